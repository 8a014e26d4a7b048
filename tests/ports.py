"""Ports for servers that start later, end, or come back: no other worker or run is given them, nor does the kernel give them out."""

from __future__ import annotations

import fcntl
import itertools
import os
import re
import socket
import tempfile
from pathlib import Path

FIRST, END = (
    12_000,
    32_000,
)  # below what Linux gives to connections and to servers without a port of their own
APART = 16  # `up` looks for the next free one
_FOLDER = Path(tempfile.gettempdir()) / f"platform-engineer-ports-{os.getuid()}"
_locks: list[int] = []  # descriptors of locked files, held until this process ends
_candidates = itertools.cycle(range(FIRST, END, APART))


def free_port() -> int:
    """A port of loopback that is free and stays so until its owner listens there."""
    _FOLDER.mkdir(mode=0o700, exist_ok=True)
    for port in itertools.islice(_candidates, (END - FIRST) // APART):
        lock = os.open(_FOLDER / str(port), os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            os.close(lock)
            continue
        _locks.append(lock)
        return port
    raise RuntimeError(f"No port of loopback between {FIRST} and {END} is free.")


def free_ports(count: int) -> list[int]:
    """Several of them, far from each other's neighbours."""
    return [free_port() for _ in range(count)]


def move_to_free_ports(checkout: Path) -> None:
    """Have the service of a copy of the checkout prefer ports that nobody else on this machine does."""
    agents, plan = (
        checkout / "agents" / "agents.yaml",
        checkout / "multi_agents" / "cli" / "service" / "plan.py",
    )
    for path, pattern in ((agents, r"(port: )\d+"), (plan, r"(SUPERVISOR_PORT = )\d+")):
        text, count = re.subn(pattern, lambda found: f"{found[1]}{free_port()}", path.read_text("utf-8"))
        assert count, f"{path.name} names no port"
        path.write_text(text, "utf-8")

"""Free ports on loopback, reserved until the processes that get them have ended."""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from multi_agents.cli.errors import ServiceUnreachable

HOST = "127.0.0.1"
TRIES = 200
HIGHEST = 65535

Take = Callable[[int], bool]


def is_free(port: int) -> bool:
    """Whether a server can listen on this port of loopback now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


@contextmanager
def reserving_ports(folder: Path | None = None) -> Iterator[Callable[[Iterable[int]], list[int]]]:
    """A `choose_ports` whose ports no other service of this user gets for the length of the block.

    Seconds pass between the choice of a port and its process listening there. A bound socket would not keep another
    service away: with SO_REUSEADDR, which a quick restart needs, Linux lets two bind the same port until one listens.

    Args:
        folder: Where the locks are; one of this user in the folder for temporary files when omitted.
    """
    with ExitStack() as held:

        def take(port: int) -> bool:
            return _lock(folder or _folder(), port, held) and is_free(port)

        yield lambda preferred: choose_ports(preferred, take)


def choose_ports(preferred: Iterable[int], take: Take = is_free) -> list[int]:
    """For each preferred port: the port itself, or the next free one that is neither preferred nor chosen for another process.

    Raises:
        ServiceUnreachable: None of the next 200 ports is free.
    """
    wanted = list(preferred)
    chosen: list[int] = []
    for port in wanted:
        others = {*chosen, *wanted} - {port}
        near = range(port, min(port + TRIES, HIGHEST) + 1)
        free = next((one for one in near if one not in others and one not in chosen and take(one)), None)
        if free is None:
            raise ServiceUnreachable(
                f"No port near {port} is free on {HOST}. Choose another one with --port."
            )
        chosen.append(free)
    return chosen


def _folder() -> Path:
    return Path(tempfile.gettempdir()) / f"platform-engineer-{os.getuid()}"


def _lock(folder: Path, port: int, held: ExitStack) -> bool:
    """Whether this process has reserved the port; where files cannot be locked, nothing is reserved and it may try."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = held.enter_context((folder / f"{port}.lock").open("a"))
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True

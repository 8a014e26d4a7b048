"""Free ports on loopback."""

from __future__ import annotations

import socket
from collections.abc import Iterable

from multi_agents.cli.errors import ServiceUnreachable

HOST = "127.0.0.1"
TRIES = 200
HIGHEST = 65535


def is_free(port: int) -> bool:
    """Whether a server can listen on this port of loopback now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def choose_ports(preferred: Iterable[int]) -> list[int]:
    """For each preferred port itself, or the next free one that nobody else here prefers or got.

    Raises:
        ServiceUnreachable: None of the next 200 ports is free.
    """
    wanted = list(preferred)
    chosen: list[int] = []
    for port in wanted:
        others = {*chosen, *wanted} - {port}
        near = range(port, min(port + TRIES, HIGHEST) + 1)
        free = next((one for one in near if one not in others and one not in chosen and is_free(one)), None)
        if free is None:
            raise ServiceUnreachable(f"No port near {port} is free on {HOST}.")
        chosen.append(free)
    return chosen

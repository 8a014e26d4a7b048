"""What a process holds: memory, tasks of its event loop, descriptors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import httpx

_PAGE = os.sysconf("SC_PAGE_SIZE")


class Footprint(NamedTuple):
    """What a process holds."""

    kilobytes: int
    loop_tasks: int
    descriptors: int

    def minus(self, base: Footprint) -> Footprint:
        """What it holds more than before."""
        return Footprint(*(now - then for now, then in zip(self, base, strict=True)))

    def __str__(self) -> str:
        return f"{self.kilobytes / 1024:7.1f} MB, {self.loop_tasks:6d} loop tasks, {self.descriptors:5d} descriptors"


def memory_kilobytes(pid: int) -> int:
    """Resident memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE // 1024


def descriptors(pid: int) -> int:
    """Open descriptors."""
    return len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208 - no path is needed


async def footprint(http: httpx.AsyncClient, pid: int, url: str) -> Footprint:
    """What a server of `benchmarks/wire_server.py` holds now."""
    inside = (await http.get(f"{url.rstrip('/')}/inside")).json()
    return Footprint(memory_kilobytes(pid), inside["loop_tasks"], descriptors(pid))

"""What a process holds: memory, tasks of its event loop, descriptors."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import NamedTuple

import httpx

from benchmarks.service.held import Held, held_file

_TELL_SECONDS = 60.0
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


async def footprint(http: httpx.AsyncClient, pid: int, url: str) -> tuple[Footprint, Held]:
    """What a server of `benchmarks/wire_server.py` holds now: resident before it gave anything back, and what is in use."""
    resident = memory_kilobytes(pid)
    inside = (await http.get(f"{url.rstrip('/')}/inside")).json()
    return Footprint(resident, inside["loop_tasks"], descriptors(pid)), Held(*inside["held"])


async def held_by(pid: int, pattern: str) -> Held:
    """What a process holds that runs below `benchmarks.service.held`."""
    path = held_file(pid, pattern)
    path.unlink(missing_ok=True)
    os.kill(pid, signal.SIGUSR1)
    async with asyncio.timeout(_TELL_SECONDS):
        while not path.exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.05)
    return Held(*json.loads(path.read_text()))

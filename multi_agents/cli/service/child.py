"""One process of the service: with its own log, ended with its whole process group."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from multi_agents.cli.console import clean
from multi_agents.cli.service.plan import Planned

GRACE_SECONDS = 10.0
LAST_LINES = 15


class Process(Protocol):
    """The common interface of a spawned and a forked process."""

    @property
    def pid(self) -> int:
        """Its id."""
        ...

    @property
    def returncode(self) -> int | None:
        """`None` while it runs; then its exit code, or the number of a signal below zero."""
        ...

    async def wait(self) -> int:
        """Wait until it ends."""
        ...


@dataclass(frozen=True, slots=True)
class Child:
    """A started process. Its group id is its pid, since it leads a session of its own."""

    planned: Planned
    process: Process
    log: Path

    def signal_group(self, number: signal.Signals) -> None:
        """Send a signal to the process and everything that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    async def stop(self, grace: float = GRACE_SECONDS) -> None:
        """SIGTERM, and SIGKILL for whatever is left after `grace` seconds."""
        if self.process.returncode is None:
            self.signal_group(signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(grace):
                    await self.process.wait()
        self.signal_group(signal.SIGKILL)
        await self.process.wait()

    def last_lines(self) -> list[str]:
        """The end of its log, safe to print."""
        with contextlib.suppress(OSError), self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - 8192))
            lines = file.read().decode("utf-8", "replace").splitlines()
            return [clean(line)[:500] for line in lines[-LAST_LINES:]]
        return []

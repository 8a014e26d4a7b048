"""One process of the service: started with its own log, ended with its whole process group."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from multi_agents.cli.console import clean
from multi_agents.cli.service.plan import Planned
from multi_agents.cli.service.ports import HOST

LAUNCHER = Path(__file__).with_name("launcher.py")
GRACE_SECONDS = 10.0
LAST_LINES = 15


@dataclass(frozen=True, slots=True)
class Child:
    """A started process. Its group id is its pid, since it leads a session of its own."""

    planned: Planned
    process: asyncio.subprocess.Process
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


async def start_child(planned: Planned, environ: Mapping[str, str], logs: Path) -> Child:
    """Start one process with standard output and error in `logs/NAME.log`; the log before is kept as `.1`."""
    log = await asyncio.to_thread(_fresh_log, logs, planned.name)
    with log.open("ab") as sink:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            str(LAUNCHER),
            str(os.getpid()),
            planned.module,
            *("--host", HOST, "--port", str(planned.port), "--exit-with-parent"),
            env=dict(environ),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            start_new_session=True,
        )
    return Child(planned, process, log)


def _fresh_log(logs: Path, name: str) -> Path:
    logs.mkdir(parents=True, exist_ok=True)
    log = logs / f"{name}.log"
    if log.exists():
        log.replace(logs / f"{name}.log.1")
    log.touch(mode=0o600)
    return log

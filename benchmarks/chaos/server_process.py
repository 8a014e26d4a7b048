"""One agent's process: started, watched from outside, killed, started again on the same port and data."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple, Protocol

import httpx

from tests.ports import free_port
from utils.settings import process_environment

_LOOP_TASKS = re.compile(r"^platform_engineer_event_loop_tasks (\d+)", re.MULTILINE)
_START_SECONDS = 120
_STOP_SECONDS = 30


class Process(Protocol):
    """What is needed of a process, however it was started."""

    pid: int

    @property
    def returncode(self) -> int | None:
        """Its exit code, once it ended."""

    async def wait(self) -> int:
        """Wait until it ends."""


class Footprint(NamedTuple):
    """What a process holds."""

    sockets: int
    loop_tasks: int


class ServerProcess:
    """An agent's process.

    Args:
        command: Arguments of the interpreter that serve the agent.
        home: Its data folder; beside it stands its log, `NAME.log`, which goes on over restarts.
        environ: Its settings.
    """

    def __init__(self, command: Sequence[str], home: Path, environ: Mapping[str, str]) -> None:
        self._port = free_port()  # it is listened on later, and again after each restart
        self.url = f"http://127.0.0.1:{self._port}"
        self.log = home.with_suffix(".log")
        self._command = [*command, "--exit-with-parent", "--port", str(self._port)]
        self._environ = {**process_environment(), **environ, "PLATFORM_ENGINEER_HOME": str(home)}
        self._process: Process | None = None

    async def start(self) -> None:
        """Start it and wait until it is ready.

        Raises:
            RuntimeError: It ended at its start.
        """
        with self.log.open("ab") as log:
            self._process = await self.launch(log)
        ready, ended = asyncio.create_task(self._until_ready()), asyncio.create_task(self._process.wait())
        done, rest = await asyncio.wait([ready, ended], return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()
        if ended in done:
            raise RuntimeError(f"{self._command} ended at its start, with code {ended.result()}.")
        await ready

    async def launch(self, log: IO[bytes]) -> Process:
        """The new process."""
        return await asyncio.create_subprocess_exec(
            sys.executable, *self._command, env=self._environ, stderr=log
        )

    @property
    def pid(self) -> int:
        """Its id, once it was started."""
        assert self._process is not None
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Its exit code, once it ended."""
        return None if self._process is None else self._process.returncode

    async def kill(self) -> None:
        """SIGKILL: no word of farewell."""
        if self._process is not None and self._process.returncode is None:
            self._signal(signal.SIGKILL)
            await self._process.wait()

    async def stop(self) -> int | None:
        """SIGTERM; the exit code, or nothing where it did not end in time and was killed."""
        if self._process is None:
            return None
        self._signal(signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(_STOP_SECONDS):
                return await self._process.wait()
        await self.kill()
        return None

    async def footprint(self, http: httpx.AsyncClient) -> Footprint:
        """What it holds now: its own loop is asked, and the kernel."""
        counted = _LOOP_TASKS.search((await http.get(f"{self.url}/metrics")).text)
        assert counted is not None
        return Footprint(sockets(self.pid), int(counted[1]))

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    async def _until_ready(self) -> None:
        async with httpx.AsyncClient(trust_env=False) as http, asyncio.timeout(_START_SECONDS):
            while True:
                with suppress(httpx.TransportError):
                    if (await http.get(f"{self.url}/readyz")).status_code == httpx.codes.OK:
                        return
                await asyncio.sleep(0.05)


def sockets(pid: int) -> int:
    """Open sockets of a process."""
    found = 0
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            found += str(entry.readlink()).startswith("socket:")
    return found

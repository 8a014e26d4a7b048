"""The client of a fork server: starts it, asks it for processes, ends it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from utils.processes.adoption import AdoptedProcess, adopting
from utils.processes.request import ForkRequest, ProcessTarget, send

LAUNCHER = Path(__file__).with_name("launcher.py")
_SERVER = "utils.processes.fork_server"
_REPLY_BYTES = 32
SILENT_SECONDS = 120.0
"""Longest wait for a process; the first one waits until everything is imported."""


class ForkServerGone(Exception):
    """No process could be forked, because the fork server ended or does not answer."""


def server_command(channel: socket.socket, modules: Sequence[str]) -> list[str]:
    """What starts a fork server of this process. It inherits `channel`."""
    me = str(os.getpid())
    launched = [sys.executable, "-I", str(LAUNCHER), me]
    return [*launched, _SERVER, str(channel.fileno()), me, *modules]


def server_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a fork server: NumPy's library must not start threads when it is imported."""
    return {"OPENBLAS_NUM_THREADS": "1"} | dict(environ)


class ForkServer:
    """Starts processes that begin with their modules imported. For one event loop; Linux only.

    The processes are children of this one and lead a session of their own. They end by SIGTERM when this
    process ends in any way, and live on when the fork server ends.
    """

    def __init__(self, server: asyncio.subprocess.Process, channel: socket.socket) -> None:
        """Use `start`."""
        self._server = server
        self._channel = channel

    @classmethod
    async def start(cls, modules: Sequence[str], environ: Mapping[str, str], log: IO[bytes]) -> ForkServer:
        """Start one that imports `modules`; returns before it has.

        Args:
            modules: What to import. None of them may start a thread when it is imported.
            environ: The environment that the modules are imported with.
            log: Standard output and error of the fork server.
        """
        channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            server = await asyncio.create_subprocess_exec(
                *server_command(theirs, modules),
                env=server_environment(environ),
                pass_fds=[theirs.fileno()],
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return cls(server, channel)

    @property
    def pid(self) -> int:
        """Id of the fork server's process."""
        return self._server.pid

    async def fork(self, target: ProcessTarget, output: IO[bytes]) -> AdoptedProcess:
        """Start a process; `output` becomes its standard output and error.

        A cancellation ends the fork server and leaves no process behind.

        Raises:
            ForkServerGone: The fork server ended, or does not answer; it is ended then.
        """
        forking = asyncio.ensure_future(self._fork(target, output))
        try:
            return await asyncio.shield(forking)
        except asyncio.CancelledError:
            self._kill()
            with contextlib.suppress(ForkServerGone):
                process = await forking
                os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
            raise

    async def close(self) -> None:
        """End the fork server; the processes that it forked live on."""
        self._channel.close()
        self._kill()
        await self._server.wait()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._server.kill()

    async def _fork(self, target: ProcessTarget, output: IO[bytes]) -> AdoptedProcess:
        mine, theirs = os.pipe()
        try:
            with adopting():
                try:
                    send(self._channel, ForkRequest(target, output.fileno(), theirs))
                except OSError as error:
                    raise ForkServerGone(str(error)) from error
                finally:
                    os.close(theirs)
                return AdoptedProcess(int(await self._reply(mine)))
        finally:
            os.close(mine)

    async def _reply(self, pipe: int) -> bytes:
        loop = asyncio.get_running_loop()
        readable = asyncio.Event()
        loop.add_reader(pipe, readable.set)
        try:
            async with asyncio.timeout(SILENT_SECONDS):
                await readable.wait()
        except TimeoutError:
            self._kill()
            raise ForkServerGone("it does not answer") from None
        finally:
            loop.remove_reader(pipe)
        reply = os.read(pipe, _REPLY_BYTES)
        if not reply:
            raise ForkServerGone("it ended")
        return reply

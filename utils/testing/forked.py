"""Processes forked from one that has imported their modules, for tests and fixtures without an event loop.

    with preloaded(SHARED_MODULES, os.environ, log) as server:
        process = server.start(Target("agents.rag", ("--port", "8002"), environ), output)
        ...
        process.stop()

A test session starts one server and pays for the imports once. Linux only: `can_adopt()` says whether it works here.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO

from utils.processes.adoption import adopting
from utils.processes.fork_client import SILENT_SECONDS, ForkServerGone, server_command, server_environment
from utils.processes.request import Request, Target, send

_REPLY_BYTES = 32


class Forked:
    """A forked process: a child of this one that leads a session of its own."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit code, or the number of a signal below zero; `None` while it runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self, seconds: float) -> int:
        """Wait until it ends.

        Raises:
            TimeoutError: It still runs after `seconds`.
        """
        if self.returncode is None:
            descriptor = os.pidfd_open(self.pid)
            try:
                select.select([descriptor], [], [], seconds)
            finally:
                os.close(descriptor)
        code = self.poll()
        if code is None:
            raise TimeoutError
        return code

    def stop(self, seconds: float = 10) -> int:
        """SIGTERM to its process group, SIGKILL to what is left after `seconds`; its exit code."""
        if self.poll() is None:
            os.killpg(self.pid, signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                self.wait(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        return self.wait(seconds)


class Preloaded:
    """A fork server, asked from one thread at a time."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel

    def start(self, target: Target, output: IO[bytes]) -> Forked:
        """Fork a process; `output` becomes its standard output and error.

        Raises:
            ForkServerGone: The fork server ended or does not answer; its log says why.
        """
        mine, theirs = os.pipe()
        try:
            with adopting():
                try:
                    send(self._channel, Request(target, output.fileno(), theirs))
                except OSError as error:
                    raise ForkServerGone(str(error)) from error
                finally:
                    os.close(theirs)
                readable, _, _ = select.select([mine], [], [], SILENT_SECONDS)
                reply = os.read(mine, _REPLY_BYTES) if readable else b""
        finally:
            os.close(mine)
        if not reply:
            raise ForkServerGone("it ended or does not answer")
        return Forked(int(reply))


@contextmanager
def preloaded(modules: Sequence[str], environ: Mapping[str, str], log: IO[bytes]) -> Iterator[Preloaded]:
    """A fork server for the length of the block; the processes that it forked outlive it and end with this process."""
    channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with channel:
        with theirs:
            server = subprocess.Popen(  # noqa: S603 - our own command
                server_command(theirs, modules),
                env=server_environment(environ),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            yield Preloaded(channel)
        finally:
            server.kill()
            server.wait()

"""A person at a terminal: the command line on a pseudo-terminal of its own, keys in, screen text out.

It is forked from the preloaded interpreter; `fresh_terminal` starts a new one, for what happens while that starts.
"""

from __future__ import annotations

import asyncio
import os
import pty
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from tests.e2e.cli.command import ROOT
from tests.preloaded import process as preloaded

TAKE_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
fcntl.ioctl(0, termios.TIOCSWINSZ, b"\\x28\\x00\\x64\\x00\\x00\\x00\\x00\\x00")
"""
NEW_INTERPRETER = (
    TAKE_TERMINAL + 'os.execv(sys.executable, [sys.executable, "-m", "multi_agents.cli", *sys.argv[1:]])'
)
SAME_INTERPRETER = TAKE_TERMINAL + "import runpy; runpy._run_module_as_main('multi_agents.cli')"
JOB_OF_A_SHELL = (
    TAKE_TERMINAL
    + """
import signal
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.executable, [sys.executable, "-m", "multi_agents.cli", *sys.argv[1:]])
_, how = os.waitpid(job, os.WUNTRACED)
if os.WIFSTOPPED(how):
    print("Stopped by", signal.Signals(os.WSTOPSIG(how)).name, flush=True)
    os.kill(job, signal.SIGCONT)
    _, how = os.waitpid(job, 0)
sys.exit(os.waitstatus_to_exitcode(how))
"""
)
_ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[()][A-Z0-9]|[=>78])")


class Terminal:
    def __init__(self, process: asyncio.subprocess.Process, master: int) -> None:
        self.process, self._master, self.raw = process, master, b""
        self._changed = asyncio.Event()
        self._closed = False
        self._prompts = 0
        asyncio.get_running_loop().add_reader(master, self._read)

    def _read(self) -> None:
        try:
            chunk = os.read(self._master, 65536)
        except OSError:
            chunk = b""
        if not chunk:
            asyncio.get_running_loop().remove_reader(self._master)
            self._closed = True
            self._changed.set()
            return
        self.raw += chunk
        if b"\x1b[6n" in chunk:  # a real terminal answers where its cursor is
            os.write(self._master, b"\x1b[1;1R")
        self._changed.set()

    @property
    def text(self) -> str:
        return _ESCAPES.sub("", self.raw.decode("utf-8", "replace"))

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    async def asks(self) -> None:
        """Wait for the next prompt: the editor switches bracketed paste on whenever it begins to read."""
        self._prompts += 1
        async with asyncio.timeout(60):
            while self.raw.count(b"\x1b[?2004h") < self._prompts:
                assert not self._closed, f"The program ended; its screen: {self.text}"
                self._changed.clear()
                await self._changed.wait()

    async def shows(self, text: str, *, since: int = 0, seconds: float = 60) -> int:
        """Wait for the text; where the screen's text ends then, for the next wait."""
        async with asyncio.timeout(seconds):
            while text not in self.text[since:]:
                assert not self._closed, f"The program ended; its screen: {self.text}"
                self._changed.clear()
                await self._changed.wait()
        return len(self.text)

    async def ends(self) -> int:
        async with asyncio.timeout(60):
            return await self.process.wait()


@asynccontextmanager
async def terminal(*arguments: str, home: Path, **environ: str) -> AsyncIterator[Terminal]:
    async with _running(SAME_INTERPRETER, arguments, home, environ) as screen:
        yield screen


@asynccontextmanager
async def fresh_terminal(*arguments: str, home: Path, **environ: str) -> AsyncIterator[Terminal]:
    async with _running(NEW_INTERPRETER, arguments, home, environ) as screen:
        yield screen


@asynccontextmanager
async def job_terminal(*arguments: str, home: Path, **environ: str) -> AsyncIterator[Terminal]:
    """The command as a job of a shell that lets it continue as soon as it is stopped."""
    async with _running(JOB_OF_A_SHELL, arguments, home, environ) as screen:
        yield screen


@asynccontextmanager
async def _running(
    code: str, arguments: Sequence[str], home: Path, environ: Mapping[str, str]
) -> AsyncIterator[Terminal]:
    master, slave = pty.openpty()
    env = os.environ | {
        "PLATFORM_ENGINEER_HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm-256color",
        **environ,
    }
    process = await preloaded.start(
        ("-c", code, *arguments),
        env=env,
        cwd=home,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        leads=code == SAME_INTERPRETER,
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        asyncio.get_running_loop().remove_reader(master)
        if process.returncode is None:
            process.kill()
            await process.wait()
        os.close(master)

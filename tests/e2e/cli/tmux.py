"""A real terminal of a given size: tmux, with a server of its own."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path


class Tmux:
    def __init__(self, socket: Path) -> None:
        self._socket = socket

    async def run(self, *arguments: str) -> str:
        process = await asyncio.create_subprocess_exec(
            "tmux", "-f", "/dev/null", "-S", str(self._socket), *arguments, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await process.communicate()
        return out.decode()

    async def type(self, line: str) -> None:
        await self.run("send-keys", "-l", line)
        await self.run("send-keys", "Enter")

    async def text(self) -> str:
        """The lines of the screen and those that left it at the top."""
        return await self.run("capture-pane", "-p", "-S", "-500")

    async def shows(self, text: str) -> None:
        async with asyncio.timeout(60):
            while text not in await self.text():
                await asyncio.sleep(0.05)


@asynccontextmanager
async def tmux(command: str, *, width: int, home: Path, **environ: str) -> AsyncIterator[Tmux]:
    """The command in a terminal of so many columns; the terminal stays when the command ends."""
    screen = Tmux(home / "tmux.sock")
    values = {"PLATFORM_ENGINEER_HOME": str(home), **environ}
    told = " ".join(f"{name}={shlex.quote(value)}" for name, value in values.items())
    line = f"cd {shlex.quote(str(home))}; env -u COLUMNS -u LINES {told} {command}; exec sleep 600"
    await screen.run("new-session", "-d", "-x", str(width), "-y", "50", line)
    try:
        yield screen
    finally:
        await screen.run("kill-server")

"""Servers of other people, run by the program that is installed on this machine."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

START_SECONDS = 30


def installed(program: str, package: str) -> str:
    """The path of a program, which may be one that only root has in its search path."""
    path = shutil.which(program) or f"/usr/sbin/{program}"
    assert Path(path).exists(), f"{program} is not installed: apt-get install {package}"
    return path


@asynccontextmanager
async def serving(
    command: Sequence[str], port: int, log: Path, *, user: str | None = None
) -> AsyncIterator[None]:
    """Run a server until the end of the block, which begins once it takes connections at a port of loopback.

    `log` is the file for what it prints, which is shown where it ends before. `user` is who runs it, if somebody else does.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(command, user=user, stdout=output, stderr=output)
    try:
        async with asyncio.timeout(START_SECONDS):
            while not await _listens(port):
                assert process.poll() is None, log.read_text()
                await asyncio.sleep(0.02)
        yield
    finally:
        process.terminate()
        await asyncio.to_thread(process.wait, 30)


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True

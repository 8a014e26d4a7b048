"""Programs on the JavaScript SDK of A2A, in node, beside the packages of their lock."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.e2e.cli.command import ROOT
from tests.e2e.web.npm import node_path, packages

HERE = Path(__file__).parent
CACHE = ROOT / ".cache" / "interop"


async def start(program: str, *arguments: str) -> asyncio.subprocess.Process:
    """Start a program of this folder."""

    def ready() -> Path:
        packages(HERE, CACHE)
        return Path(shutil.copy(HERE / program, CACHE / program))

    path = await asyncio.to_thread(ready)
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(node_path(), path, *arguments, stdout=pipe, stderr=pipe)


async def output(program: str, *arguments: str) -> str:
    """What a program prints until it ends."""
    process = await start(program, *arguments)
    out, err = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 0, err.decode()
    return out.decode()


@asynccontextmanager
async def serving(program: str, *arguments: str) -> AsyncIterator[str]:
    """A program that prints its URL as soon as it listens; the URL."""
    process = await start(program, *arguments)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), 60)
        assert line, (await process.stderr.read()).decode()
        yield line.decode().strip()
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()

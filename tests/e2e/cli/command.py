"""Runs the command line as a person's shell would: a process of its own, with pipes."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Finished:
    code: int
    out: str
    err: str


async def start(*arguments: str, home: Path, **environ: str) -> asyncio.subprocess.Process:
    env = {**os.environ, "PLATFORM_ENGINEER_HOME": str(home), "PYTHONPATH": str(ROOT), **environ}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "multi_agents.cli", *arguments, env=env, cwd=home,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip


async def finish(process: asyncio.subprocess.Process, typed: str = "", seconds: float = 60) -> Finished:
    async with asyncio.timeout(seconds):
        out, err = await process.communicate(typed.encode())
    assert process.returncode is not None
    return Finished(process.returncode, out.decode(), err.decode())


async def run(*arguments: str, home: Path, typed: str = "", **environ: str) -> Finished:
    return await finish(await start(*arguments, home=home, **environ), typed)

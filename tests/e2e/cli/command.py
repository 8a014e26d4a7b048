"""Runs the command line as a person's shell would: a process of its own, with pipes.

It is forked from the preloaded interpreter; `run_fresh` starts a new one, for what depends on how one starts.
"""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.preloaded import process as preloaded

ROOT = Path(__file__).resolve().parents[3]
CLI = ("-m", "multi_agents.cli")
PIPE = asyncio.subprocess.PIPE


@dataclass(frozen=True)
class Finished:
    code: int
    out: str
    err: str


def environment(home: Path, **environ: str) -> dict[str, str]:
    return {**os.environ, "PLATFORM_ENGINEER_HOME": str(home), "PYTHONPATH": str(ROOT), **environ}


async def start(*arguments: str, home: Path, **environ: str) -> asyncio.subprocess.Process:
    return await start_program(CLI, *arguments, home=home, **environ)


async def start_program(
    program: tuple[str, str], /, *arguments: str, home: Path, **environ: str
) -> asyncio.subprocess.Process:
    env = environment(home, **environ)
    command = (*program, *arguments)
    return await preloaded.start(command, env=env, cwd=home, stdin=PIPE, stdout=PIPE, stderr=PIPE)


async def finish(process: asyncio.subprocess.Process, typed: str = "", seconds: float = 60) -> Finished:
    async with asyncio.timeout(seconds):
        out, err = await process.communicate(typed.encode())
    assert process.returncode is not None
    return Finished(process.returncode, out.decode(), err.decode())


async def run(*arguments: str, home: Path, typed: str = "", **environ: str) -> Finished:
    return await finish(await start(*arguments, home=home, **environ), typed)


async def run_agent(module: str, *options: str, home: Path, **environ: str) -> Finished:
    """What `serve` becomes, on a free port: a new interpreter, which is forked here."""
    return await finish(await start_program(("-m", module), "--port", "0", *options, home=home, **environ))


async def run_fresh(*arguments: str, home: Path, **environ: str) -> Finished:
    env = environment(home, **environ)
    process = await asyncio.create_subprocess_exec(
        sys.executable, *CLI, *arguments, env=env, cwd=home, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    return await finish(process)

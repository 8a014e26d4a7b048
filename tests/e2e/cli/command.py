"""Runs the command line as a person's shell would: a process of its own, with pipes.

It is forked from the preloaded interpreter; `run_fresh` starts a new one, for what depends on how one starts.
"""

from __future__ import annotations

import asyncio
import json
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

    def findings(self, level: str) -> list[str]:
        """What `doctor --json` found, of one level: "ok", "note" or "wrong"."""
        return [one["message"] for one in json.loads(self.out) if one["level"] == level]


def environment(home: Path, **environ: str) -> dict[str, str]:
    return {**os.environ, "PLATFORM_ENGINEER_HOME": str(home), "PYTHONPATH": str(ROOT), **environ}


async def start(*arguments: str, home: Path, **environ: str) -> asyncio.subprocess.Process:
    return await start_leading(CLI, *arguments, home=home, **environ)


async def start_leading(
    program: tuple[str, str], /, *arguments: str, home: Path, **environ: str
) -> asyncio.subprocess.Process:
    """The command line by another program, with a fork server that has the libraries imported."""
    return await _start((*program, *arguments), environment(home, **environ), home, leads=True)


async def start_program(
    program: tuple[str, str], /, *arguments: str, home: Path, **environ: str
) -> asyncio.subprocess.Process:
    """Another program than the command line, or that with a fork server which is a new interpreter."""
    return await _start((*program, *arguments), environment(home, **environ), home, leads=False)


async def _start(
    line: tuple[str, ...], env: dict[str, str], home: Path, *, leads: bool
) -> asyncio.subprocess.Process:
    return await preloaded.start(line, env=env, cwd=home, stdin=PIPE, stdout=PIPE, stderr=PIPE, leads=leads)


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

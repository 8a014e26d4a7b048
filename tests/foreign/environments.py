"""Environments with what other makers give out, each made once from its lock and kept under `.cache/foreign`."""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys
import venv
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.e2e.cli.command import ROOT
from utils.testing.live_server import loopback_socket

HERE = Path(__file__).parent
CACHE = ROOT / ".cache" / "foreign"


def python(name: str) -> Path:
    """The interpreter that has the packages of `NAME.lock`; fetching them takes a minute or two."""
    lock = (HERE / f"{name}.lock").read_bytes()
    folder = CACHE / f"{name}-{hashlib.sha256(lock).hexdigest()[:12]}"
    found = folder / "bin" / "python"
    if not (folder / "complete").exists():
        print(f"Fetching the packages of {name} …", file=sys.stderr, flush=True)
        venv.create(folder, clear=True, with_pip=True)
        options = ["-q", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
        command = [str(found), "-m", "pip", "install", *options, "-r", str(HERE / f"{name}.lock")]
        subprocess.run(command, check=True)
        (folder / "complete").touch()
    return found


async def output(name: str, program: str, *arguments: str) -> str:
    """What a program of this folder prints until it ends."""
    process = await _started(name, program, *arguments)
    out, err = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 0, err.decode()
    return out.decode()


@asynccontextmanager
async def serving(name: str, program: str) -> AsyncIterator[str]:
    """A program that is given a port and serves there; its URL once it takes connections."""
    with loopback_socket() as listener:
        port = listener.getsockname()[1]
    process = await _started(name, program, str(port))
    try:
        await _listening(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def _started(name: str, program: str, *arguments: str) -> asyncio.subprocess.Process:
    interpreter = await asyncio.to_thread(python, name)
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        interpreter, HERE / program, *arguments, stdout=pipe, stderr=pipe
    )


async def _listening(port: int, process: asyncio.subprocess.Process) -> None:
    async with asyncio.timeout(120):
        while process.returncode is None:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.2)
                continue
            writer.close()
            return
    assert process.stderr is not None
    raise AssertionError((await process.stderr.read()).decode())

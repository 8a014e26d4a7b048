"""Starts the model's server and waits until it answers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.eval.real_model.weights import model_file, runtime
from tests.ports import free_port

PROGRAM = Path(__file__).with_name("llama_server.py")
IDLE = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
"""Threads that wait give the processor away."""


@asynccontextmanager
async def model_server(cache: Path) -> AsyncIterator[str]:
    """The address of the model's OpenAI-compatible API. The server ends with the block.

    Raises:
        RuntimeError: It ended before it listened.
    """
    model, python = await asyncio.to_thread(model_file, cache), await asyncio.to_thread(runtime, cache)
    port = free_port()
    with (cache / "server.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            str(python.absolute()), str(PROGRAM), str(model), str(port),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=log, env={**os.environ, **IDLE},
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            if not await process.stdout.readline():
                raise RuntimeError(f"The model's server did not start: {cache / 'server.log'} says why.")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.stdin.close()
            try:
                async with asyncio.timeout(10):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()

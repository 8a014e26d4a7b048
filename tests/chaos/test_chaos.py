"""Everything goes wrong at random points, in real processes, and nothing is lost: a short run of `make chaos`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONVERSATIONS = 40


@pytest.mark.timeout(600)
async def test_no_conversation_is_lost_and_nothing_stays_when_everything_goes_wrong() -> None:
    """Half of the time goes into killing the sub-agent and starting it again."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.chaos", f"N={CONVERSATIONS}", "SEED=7",
        cwd=ROOT, env=dict(os.environ), stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, _ = await process.communicate()
    counts = "0 lost, 0 stuck, 0 rejected, 0 leftover, 0 noisy"
    assert out.decode().strip().splitlines()[-1] == f"{CONVERSATIONS} conversations, {counts}", out.decode()
    assert process.returncode == 0

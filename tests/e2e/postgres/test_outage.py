"""The database is stopped under load: no process ends, and each request does, in an answer or in a failure that says why."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from benchmarks.outage.tally import WRONGS

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(600)]

MET = ("failed", "refused", "later", "again")


async def test_while_the_database_is_away_each_request_ends_with_a_reason_and_afterwards_all_are_answered() -> (
    None
):
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.outage", "SECONDS=7", "CLIENTS=4"),
        cwd=Path(__file__).parents[3],
        stdout=asyncio.subprocess.PIPE,
    )
    printed, _ = await process.communicate()
    counts = dict(part.split("=") for part in printed.decode().splitlines()[-1].split())
    assert process.returncode == 0, printed.decode()
    assert sum(int(counts[name]) for name in MET) > 0
    assert int(counts["recovered"]) >= 4
    assert {name: counts[name] for name in WRONGS} == dict.fromkeys(WRONGS, "0")

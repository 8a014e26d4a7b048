"""Both replicas of an agent are restarted under load, one after the other: no turn fails and no piece is missing."""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.rolling.tally import WRONGS
from tests.e2e.observability.processes import SERVE, Served, ready, started
from tests.e2e.observability.scrape import samples
from tests.e2e.postgres.rolling import WHOLE, Caller
from tests.postgres import PostgresServer

pytestmark = [
    pytest.mark.servers,
    pytest.mark.processes,
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("postgres"),
]

COUNTING = (*SERVE, "tests.e2e.postgres.rolling:Counting")
STREAMS = BLOCKING = 8


async def at_work(http: httpx.AsyncClient, served: Served, callers: asyncio.Future[Any]) -> None:
    """Return once a replica runs a turn, or all callers have their answers."""
    while not callers.done():
        told = samples((await http.get(f"{served.url}/metrics")).text)
        if told.get(("turns_running", frozenset({("agent", "counting")}))):
            return
        await asyncio.sleep(0.02)


async def test_a_rolling_restart_under_load_loses_no_turn_and_no_piece(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    settings = {
        "DATABASE_URL": postgres.new_database(),
        "DATABASE_CONNECT_SECONDS": "60",
        "EMBEDDINGS_PROVIDER": "none",
        "SHUTDOWN_PAUSE_SECONDS": "0",
        "SHUTDOWN_GRACE_SECONDS": "0.5",
    }
    with ExitStack() as stack:

        async def start(name: str) -> Served:
            (tmp_path / name).mkdir()
            served: Served = stack.enter_context(started(tmp_path / name, "counting", COUNTING, settings))
            async with ready(served):
                return served

        replicas = [await start("one"), await start("two")]
        async with httpx.AsyncClient(trust_env=False, timeout=120) as http:
            callers = [
                Caller(http, lambda: [f"{each.url}/" for each in replicas], number)
                for number in range(STREAMS + BLOCKING)
            ]
            calls = [caller.stream() for caller in callers[:STREAMS]]
            calls += [caller.block() for caller in callers[STREAMS:]]
            running = asyncio.gather(*calls)
            for index, name in enumerate(("three", "four")):
                await at_work(http, replicas[index], running)
                old, replicas[index] = replicas[index], replicas[1 - index]
                old.process.terminate()
                replicas[index] = await start(name)
                assert await asyncio.to_thread(old.process.wait, 60) == 0
            async with asyncio.timeout(240):
                await running
        assert {caller.text for caller in callers} == {WHOLE}
    logs = [path.read_text() for path in tmp_path.glob("*/counting.log")]
    assert sum(log.count("turn.resumed") for log in logs) > 0
    assert sum(log.count("turn.interrupted") + log.count("Traceback") for log in logs) == 0


async def test_a_rolling_restart_of_both_supervisors_loses_no_turn_that_is_delegated_or_streamed() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.rolling", "STREAMS=6", "BLOCKING=6"),
        cwd=Path(__file__).parents[3],
        stdout=asyncio.subprocess.PIPE,
    )
    printed, _ = await process.communicate()
    counts = dict(part.split("=") for part in printed.decode().splitlines()[-1].split())
    assert process.returncode == 0, printed.decode()
    assert counts["restarts"] == "2"
    assert {name: counts[name] for name in WRONGS} == dict.fromkeys(WRONGS, "0")

"""A database that stands still: it takes connections, answers nothing and closes nothing, as on a machine that hangs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.observability.processes import SERVE, Served, ready, started
from tests.e2e.wire.slow_agent import Slow
from tests.e2e.wire.wiring import HEADERS, message
from tests.postgres import PostgresServer, running_server

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(300)]

SLOW = (*SERVE, "tests.e2e.wire.slow_agent:Slow")
END_SECONDS = 60
"""Far more than the end of a process may take, and less than it took where it waited for the database."""


@pytest.fixture(scope="module")
def frail() -> Iterator[PostgresServer]:
    """A server that the tests stop for a while."""
    with running_server() as server:
        yield server


@pytest.fixture
async def settings(frail: PostgresServer) -> dict[str, str]:
    return {
        "DATABASE_URL": await frail.migrated(Slow.name),
        "DATABASE_CONNECT_SECONDS": "60",
        "EMBEDDINGS_PROVIDER": "none",
        "SHUTDOWN_PAUSE_SECONDS": "0",
        "SHUTDOWN_GRACE_SECONDS": "5",
        "LOG_FORMAT": "json",
    }


def rpc(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params)}


@asynccontextmanager
async def serving(
    folder: Path, settings: Mapping[str, str]
) -> AsyncIterator[tuple[Served, httpx.AsyncClient]]:
    with started(folder, "slow", SLOW, settings) as served:
        async with (
            httpx.AsyncClient(base_url=served.url, trust_env=False, timeout=30, headers=HEADERS) as http,
            ready(served),
        ):
            yield served, http


async def begun(http: httpx.AsyncClient) -> str:
    """The id of a task that has said its first words."""
    sent = rpc("SendMessage", {"message": message(), "configuration": {"returnImmediately": True}})
    task_id = str((await http.post("/", json=sent)).json()["result"]["task"]["id"])
    while not (await task_of(http, task_id)).get("artifacts"):
        await asyncio.sleep(0.05)
    return task_id


async def task_of(http: httpx.AsyncClient, task_id: str) -> dict[str, Any]:
    found: dict[str, Any] = (await http.post("/", json=rpc("GetTask", {"id": task_id}))).json()["result"]
    return found


async def test_a_process_ends_all_the_same_and_says_which_tasks_another_one_goes_on_with(
    frail: PostgresServer, settings: dict[str, str], tmp_path: Path
) -> None:
    async with asyncio.timeout(240):
        async with serving(tmp_path, settings) as (served, http):
            task_id = await begun(http)
            with frail.standing_still():
                served.process.terminate()
                await asyncio.to_thread(served.process.wait, END_SECONDS)
            last = json.loads(served.lines[-1])
        (tmp_path / "slow" / "go").touch()
        async with serving(tmp_path, settings) as (_, http):
            while (found := await task_of(http, task_id))["status"]["state"] != "TASK_STATE_COMPLETED":
                await asyncio.sleep(0.05)
    assert (last["event"], last["tasks"]) == ("shutdown.cut_short", [task_id])
    assert "another process" in last["effect"]
    assert found["artifacts"][0]["parts"][-1]["text"].endswith("Done.")


async def test_an_idle_process_that_was_asked_for_metrics_meanwhile_ends_all_the_same(
    frail: PostgresServer, settings: dict[str, str], tmp_path: Path
) -> None:
    async with asyncio.timeout(120), serving(tmp_path, settings) as (served, http):
        with frail.standing_still():
            with suppress(httpx.TimeoutException):
                await http.get("/metrics", timeout=5)
            served.process.terminate()
            await asyncio.to_thread(served.process.wait, END_SECONDS)


async def test_the_readiness_says_that_it_answers_nothing_and_no_word_of_a_password(
    frail: PostgresServer, settings: dict[str, str], tmp_path: Path
) -> None:
    async with asyncio.timeout(120), serving(tmp_path, settings) as (_, http):
        with frail.standing_still():
            while "answers nothing" not in (told := (await http.get("/readyz")).json()["detail"]):
                await asyncio.sleep(0.05)
        while (await http.get("/readyz")).status_code == 503:
            await asyncio.sleep(0.05)
    assert "password" not in told


async def test_metrics_are_told_with_the_sizes_of_before_and_the_failure_is_counted(
    frail: PostgresServer, settings: dict[str, str], tmp_path: Path
) -> None:
    async with asyncio.timeout(120), serving(tmp_path, settings) as (_, http):
        before = sizes(await http.get("/metrics"))
        with frail.standing_still():
            told = await http.get("/metrics")
    assert sizes(told) == before != []
    assert 'storage_errors_total{file="sizes"} 1' in told.text


def sizes(answer: httpx.Response) -> list[str]:
    return [line for line in answer.text.splitlines() if "stored_bytes{" in line]

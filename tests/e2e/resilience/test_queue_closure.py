"""A client goes away in the middle of a turn, or the storage fails under it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from a2a.server.context import ServerCallContext
from structlog.testing import capture_logs

from multi_agents.platform_engineer.access import Access
from multi_agents.platform_engineer.protocol_bindings.a2a.agent_executor import SupervisorExecutor
from tests.e2e.wire.agents import card
from tests.e2e.wire.wiring import HEADERS, message, state
from tests.support.task_logs import memory_log
from tests.unit.tasks.faulty_store import FaultyStore
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.protocol.request import AgentRequest
from utils.a2a_common.server.agent_service import AgentService
from utils.a2a_common.server.app import build_app
from utils.a2a_common.tasks.log import TaskLog
from utils.events import AgentEvent, Completed, TextDelta, ToolStarted
from utils.observability import catalogue
from utils.observability.metrics import process_metrics
from utils.settings import ServerSettings
from utils.testing.live_server import running

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


class Talker:
    """Says 36 things: the first at once, the second when `say` is set, the others when `go` is. Ends where `may_end` is set."""

    name = "talker"

    def __init__(self) -> None:
        self.say, self.said, self.go = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.may_end = asyncio.Event()
        self.may_end.set()
        self.stopped: list[str] = []
        self.finished = 0

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        try:
            yield TextDelta("first")
            await _either(self.say, self.go)
            yield ToolStarted("c", "tool")
            self.said.set()
            await self.go.wait()
            for index in range(34):
                yield ToolStarted(f"c{index}", "tool")
                await asyncio.sleep(0)
            await self.may_end.wait()
            self.finished += 1
            yield Completed()
        except (asyncio.CancelledError, GeneratorExit):
            self.stopped.append(request.task_id)
            raise

    async def cancel_children(self, task_id: str) -> None:
        """Nothing waits elsewhere."""

    async def forget_calls(self, task_id: str) -> None:
        """It has no tools."""


async def _either(*events: asyncio.Event) -> None:
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


@asynccontextmanager
async def served(talker: Talker, log: TaskLog) -> AsyncIterator[tuple[str, httpx.AsyncClient]]:
    access = Access("talker", (), AgentSettings.load({}))
    service = AgentService(card=card(), executor=SupervisorExecutor(talker, access), log=log)
    app = build_app(service, ServerSettings.load({}))
    async with running(app) as url, httpx.AsyncClient(timeout=30, trust_env=False, verify=False) as http:
        yield url, http


def closure_lines(logs: list[Any], caplog: pytest.LogCaptureFixture) -> list[str]:
    """What `grep "Queue is closed"` and its kin would find: our log, by its task, and the SDK's."""
    ours = [str(line["task_id"]) for line in logs if line.get("message") == "Queue is closed"]
    theirs = [
        r.getMessage() for r in caplog.records if "ueue" in r.getMessage() and "closed" in r.getMessage()
    ]
    return ours + theirs


async def vanish_after_the_first_chunk(http: httpx.AsyncClient, url: str, number: int) -> str:
    """Read until the first text, then close the connection; returns the task's id."""
    body = {
        "jsonrpc": "2.0", "id": number, "method": "SendStreamingMessage",
        "params": {"message": message(messageId=f"m-{number}")},
    }  # fmt: skip
    task_id = ""
    async with http.stream("POST", f"{url}/", json=body, headers=HEADERS) as answer:
        async for line in answer.aiter_lines():
            if '"task"' in line and not task_id:
                task_id = httpx.Response(200, text=line[5:]).json()["result"]["task"]["id"]
            if "artifactUpdate" in line:
                break
    return task_id


async def gone(log: TaskLog, *task_ids: str) -> None:
    """Wait until the server has noticed that nobody reads these tasks any more."""
    async with asyncio.timeout(60):
        while any(log.readers(task_id, owner_of(ServerCallContext())) for task_id in task_ids):
            await asyncio.sleep(0.01)


async def finished_task(http: httpx.AsyncClient, url: str, task_id: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            body = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": task_id}}
            task: dict[str, Any] = (await http.post(f"{url}/", json=body, headers=HEADERS)).json()["result"]
            if state(task) not in {"working", "submitted"}:
                return task
            await asyncio.sleep(0.01)


def dropped() -> float:
    """Events that were dropped so far, for whatever reason."""
    samples = [sample for metric in process_metrics().registry.collect() for sample in metric.samples]
    return sum(sample.value for sample in samples if sample.name == catalogue.DROPPED.name)


async def test_queue_closure_handling(caplog: pytest.LogCaptureFixture) -> None:
    """Document 000, scenario 3: the client disconnects mid-stream; one line, and the task goes on and is kept."""
    talker, log, before = Talker(), memory_log(), dropped()
    with capture_logs() as logs:
        async with served(talker, log) as (url, http):
            task_id = await vanish_after_the_first_chunk(http, url, 1)
            await gone(log, task_id)
            talker.go.set()
            task = await finished_task(http, url, task_id)
    assert state(task) == "completed"
    assert task["artifacts"][0]["parts"][0]["text"] == "first"
    assert talker.finished == 1
    assert closure_lines(logs, caplog) == [task_id]
    assert dropped() == before


async def test_fifty_clients_that_vanish_are_fifty_lines_and_fifty_completed_tasks(
    caplog: pytest.LogCaptureFixture,
) -> None:
    talker, log = Talker(), memory_log()
    with capture_logs() as logs:
        async with served(talker, log) as (url, http):
            ids = await asyncio.gather(
                *(vanish_after_the_first_chunk(http, url, number) for number in range(50))
            )
            await gone(log, *ids)
            talker.go.set()
            tasks = await asyncio.gather(*(finished_task(http, url, task_id) for task_id in ids))
    assert {state(task) for task in tasks} == {"completed"}
    assert sorted(closure_lines(logs, caplog)) == sorted(ids)


async def test_a_client_that_comes_back_opens_the_queue_again_and_misses_nothing() -> None:
    talker, log = Talker(), memory_log()
    with capture_logs() as logs:
        async with served(talker, log) as (url, http):
            task_id = await vanish_after_the_first_chunk(http, url, 1)
            await gone(log, task_id)
            talker.say.set()
            await talker.said.wait()
            body = {"jsonrpc": "2.0", "id": 2, "method": "SubscribeToTask", "params": {"id": task_id}}
            async with http.stream("POST", f"{url}/", json=body, headers=HEADERS) as answer:
                lines = answer.aiter_lines()
                snapshot = await anext(line async for line in lines if "data:" in line)
                talker.go.set()
                rest = [line async for line in lines if line.startswith("data:")]
    assert '"task"' in snapshot
    assert "COMPLETED" in rest[-1]
    words = [line["message"] for line in logs if "message" in line]
    assert words == ["Queue is closed", "Queue reopened"]


async def test_a_client_that_reads_to_the_end_closes_no_queue(caplog: pytest.LogCaptureFixture) -> None:
    talker = Talker()
    talker.go.set()
    with capture_logs() as logs:
        async with served(talker, memory_log()) as (url, http):
            for method in ("SendStreamingMessage", "SendMessage"):
                body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message()}}
                await http.post(f"{url}/", json=body, headers=HEADERS)
    assert talker.finished == 2
    assert closure_lines(logs, caplog) == []


async def test_a_run_whose_events_cannot_be_stored_is_stopped_and_its_task_failed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store, talker = FaultyStore(), Talker()
    log = TaskLog(store)
    before = dropped()
    with capture_logs() as logs:
        async with served(talker, log) as (url, http):
            task_id = await vanish_after_the_first_chunk(http, url, 1)
            await gone(log, task_id)
            store.failing.add("*")
            talker.may_end.clear()
            talker.go.set()
            task = await finished_task(http, url, task_id)
            async with asyncio.timeout(60):
                while not talker.stopped:
                    await asyncio.sleep(0.01)
            store.failing.clear()
    assert state(task) == "failed"
    assert (talker.stopped, talker.finished) == ([task_id], 0)
    assert closure_lines(logs, caplog) == [task_id]
    assert dropped() >= before


async def test_fifty_tasks_whose_storage_fails_log_fifty_lines(caplog: pytest.LogCaptureFixture) -> None:
    store, talker = FaultyStore(), Talker()
    log = TaskLog(store)
    with capture_logs() as logs:
        async with served(talker, log) as (url, http):
            ids = await asyncio.gather(
                *(vanish_after_the_first_chunk(http, url, number) for number in range(50))
            )
            await gone(log, *ids)
            store.failing.add("*")
            talker.may_end.clear()
            talker.go.set()
            tasks = await asyncio.gather(*(finished_task(http, url, task_id) for task_id in ids))
            async with asyncio.timeout(60):
                while len(talker.stopped) < 50:
                    await asyncio.sleep(0.01)
            store.failing.clear()
    assert {state(task) for task in tasks} == {"failed"}
    assert sorted(closure_lines(logs, caplog)) == sorted(ids) == sorted(talker.stopped)

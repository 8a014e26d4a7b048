"""A client or the queue's consumer goes away in the middle of a turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from a2a.server.events.event_queue_v2 import EventQueueSource
from a2a.types.a2a_pb2 import Task, TaskState
from structlog.testing import capture_logs

from multi_agents.platform_engineer.protocol_bindings.a2a.agent_executor import SupervisorExecutor
from tests.e2e.wire.agents import card
from tests.e2e.wire.wiring import HEADERS, message, state
from utils.a2a_common.execution.event_sink import EventSink
from utils.a2a_common.execution.guarded_queue import GuardedQueue
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.protocol.request import AgentRequest
from utils.a2a_common.server.app import AgentService, build_app
from utils.errors import StorageError
from utils.events import AgentEvent, Completed, TextDelta, ToolStarted
from utils.observability import catalogue
from utils.observability.metrics import process_metrics
from utils.persistence.tasks import ChunkedTaskStore, memory_task_store
from utils.settings import ServerSettings
from utils.testing.live_server import running

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


class Talker:
    """Says 35 things, the first at once, the others when `go` is set."""

    name = "talker"

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.stopped: list[str] = []
        self.finished = 0

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        try:
            yield TextDelta("first")
            await self.go.wait()
            for index in range(34):
                yield ToolStarted(f"c{index}", "tool")
                await asyncio.sleep(0)
            self.finished += 1
            yield Completed()
        except (asyncio.CancelledError, GeneratorExit):
            self.stopped.append(request.task_id)
            raise

    async def cancel_children(self, task_id: str) -> None:
        """Nothing waits elsewhere."""


@asynccontextmanager
async def served(talker: Talker, store: ChunkedTaskStore) -> AsyncIterator[tuple[str, httpx.AsyncClient]]:
    service = AgentService(card=card(), executor=SupervisorExecutor(talker), store=store)
    app = build_app(service, ServerSettings.load({}))
    async with running(app) as url, httpx.AsyncClient(timeout=30, trust_env=False, verify=False) as http:
        yield url, http


def closure_lines(logs: list[Any], caplog: pytest.LogCaptureFixture) -> list[str]:
    """What `grep "Queue is closed"` and its kin would find: our log and the SDK's."""
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


async def finished_task(http: httpx.AsyncClient, url: str, task_id: str) -> dict[str, Any]:
    async with asyncio.timeout(30):
        while True:
            body = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": task_id}}
            task: dict[str, Any] = (await http.post(f"{url}/", json=body, headers=HEADERS)).json()["result"]
            if state(task) not in {"working", "submitted"}:
                return task
            await asyncio.sleep(0.01)


async def test_queue_closure_handling(caplog: pytest.LogCaptureFixture) -> None:
    """Document 000, scenario 3: the client disconnects mid-stream; the task goes on and is kept."""
    talker = Talker()
    with capture_logs() as logs:
        async with served(talker, memory_task_store(owner_of)) as (url, http):
            task_id = await vanish_after_the_first_chunk(http, url, 1)
            talker.go.set()
            task = await finished_task(http, url, task_id)
    assert state(task) == "completed"
    assert task["artifacts"][0]["parts"][0]["text"] == "first"
    assert talker.finished == 1
    assert closure_lines(logs, caplog) == []


async def test_clients_that_vanish_close_no_queue_and_log_nothing(caplog: pytest.LogCaptureFixture) -> None:
    talker = Talker()
    with capture_logs() as logs:
        async with served(talker, memory_task_store(owner_of)) as (url, http):
            ids = await asyncio.gather(
                *(vanish_after_the_first_chunk(http, url, number) for number in range(50))
            )
            talker.go.set()
            tasks = await asyncio.gather(*(finished_task(http, url, task_id) for task_id in ids))
    assert {state(task) for task in tasks} == {"completed"}
    assert closure_lines(logs, caplog) == []


def close_at_the_next_write(monkeypatch: pytest.MonkeyPatch, store: ChunkedTaskStore, talker: Talker) -> None:
    """Let the next write of each task fail, which closes its queue."""
    save, broken = store.save, set[str]()

    async def failing(task: Task, **options: Any) -> Any:
        if talker.go.is_set() and task.id not in broken:
            broken.add(task.id)
            raise StorageError("The database is gone.")
        return await save(task, **options)

    monkeypatch.setattr(store, "save", failing)


async def test_a_client_that_vanishes_and_whose_queue_closes_is_one_line_and_the_rest_is_dropped(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, talker = memory_task_store(owner_of), Talker()
    close_at_the_next_write(monkeypatch, store, talker)
    before = dropped()
    with capture_logs() as logs:
        async with served(talker, store) as (url, http):
            task_id = await vanish_after_the_first_chunk(http, url, 1)
            talker.go.set()
            await finished_task(http, url, task_id)
            async with asyncio.timeout(20):
                while not talker.stopped:
                    await asyncio.sleep(0.01)
    assert [line["task_id"] for line in logs if line.get("message") == "Queue is closed"] == [task_id]
    assert dropped() > before


def dropped() -> float:
    """Events that were dropped at closed queues so far."""
    found = process_metrics().registry.get_sample_value(catalogue.DROPPED.name, {"reason": "closed"})
    return found or 0.0


async def test_fifty_tasks_whose_clients_vanish_and_whose_queues_close_at_once_log_fifty_lines(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each task's next write fails, so that its queue closes with 34 events still to come."""
    store, talker = memory_task_store(owner_of), Talker()
    close_at_the_next_write(monkeypatch, store, talker)
    with capture_logs() as logs:
        async with served(talker, store) as (url, http):
            ids = await asyncio.gather(
                *(vanish_after_the_first_chunk(http, url, number) for number in range(50))
            )
            talker.go.set()
            tasks = await asyncio.gather(*(finished_task(http, url, task_id) for task_id in ids))
            async with asyncio.timeout(20):
                while len(talker.stopped) < 50:
                    await asyncio.sleep(0.01)
    assert {state(task) for task in tasks} == {"failed"}
    lines = closure_lines(logs, caplog)
    assert sorted(lines[:50]) == sorted(ids) == sorted(talker.stopped)
    assert len(lines[50:]) <= 50, "the SDK's own end of each request, which is none of our events"


async def test_thirty_five_events_after_closure_log_one_line(caplog: pytest.LogCaptureFixture) -> None:
    """The SDK's own queue, closed; the SDK itself would log each of them."""
    queue = EventQueueSource()
    sink = EventSink(GuardedQueue(queue, None), "t-1", "c-1")
    await queue.close(immediate=True)
    with capture_logs() as logs:
        for _ in range(35):
            await sink.status(TaskState.TASK_STATE_WORKING)
    assert closure_lines(logs, caplog) == ["t-1"]
    assert sink.dropped == 35
    assert sink.gone.is_set()


async def test_a_run_whose_events_nobody_takes_is_stopped_and_its_task_failed(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write to the task store fails once: the SDK's consumer dies, and the executor would run on, blind."""
    store, talker = memory_task_store(owner_of), Talker()
    save, writes = store.save, []

    async def failing(*arguments: Any, **options: Any) -> Any:
        writes.append(1)
        if talker.go.is_set() and len(writes) < 1_000:
            writes.extend([1] * 1_000)
            raise StorageError("The database is gone.")
        return await save(*arguments, **options)

    monkeypatch.setattr(store, "save", failing)
    with capture_logs() as logs:
        async with served(talker, store) as (url, http):
            task_id = await vanish_after_the_first_chunk(http, url, 1)
            talker.go.set()
            task = await finished_task(http, url, task_id)
            async with asyncio.timeout(20):
                while not talker.stopped:
                    await asyncio.sleep(0.01)
    assert state(task) == "failed"
    assert talker.stopped == [task_id]
    assert talker.finished == 0
    lines = closure_lines(logs, caplog)
    assert lines[0] == task_id
    assert len(lines) <= 2, "ours, and at most one of the SDK for its own end of the request"

"""What the SDK holds of a task while it is worked on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from a2a.server.agent_execution import RequestContext
from a2a.server.cluster.task_store import StoredTask
from a2a.server.cluster.version import TaskVersion
from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import Message, Part, Role, SendMessageRequest, Task, TaskState
from a2a.utils.errors import TaskNotFoundError

from tests.e2e.wire.agents import Scripted, Stage, echo
from utils.a2a_common.handler.active_tasks import TidyRegistry
from utils.a2a_common.handler.request_handler import PlatformRequestHandler
from utils.a2a_common.protocol.owner import owner_of
from utils.persistence.task_shelf_memory import MemoryShelf
from utils.persistence.tasks import ChunkedTaskStore, memory_task_store


async def test_a_task_that_cannot_be_taken_up_leaves_no_queue_behind() -> None:
    """A cancel or a subscriber that comes just after the end of a task, or after its deletion."""
    store = memory_task_store(owner_of)
    await store.open()
    registry = TidyRegistry(agent_executor=Scripted(echo), task_store=store)
    before = asyncio.all_tasks()
    for number in range(10):
        with pytest.raises(TaskNotFoundError):
            await registry.get_or_create(f"gone-{number}", ServerCallContext())
    async with asyncio.timeout(5):
        while asyncio.all_tasks() - before:
            await asyncio.sleep(0.01)
    await registry.aclose()
    await store.close()


class HeldStore(ChunkedTaskStore):
    """A store whose next look or save waits."""

    def __init__(self) -> None:
        super().__init__(MemoryShelf(), owner_of)
        self.held, self.reached, self.release = "", asyncio.Event(), asyncio.Event()

    async def get(self, task_id: str, context: ServerCallContext) -> StoredTask | None:
        await self._wait("get")
        return await super().get(task_id, context)

    async def save(self, task: Task, **options: Any) -> TaskVersion:
        await self._wait("save")
        return await super().save(task, **options)

    async def _wait(self, method: str) -> None:
        if method == self.held:
            self.reached.set()
            await self.release.wait()


async def test_a_caller_that_leaves_before_its_task_began_holds_up_nobody_who_comes_after() -> None:
    store = HeldStore()
    store.held = "get"
    await store.open()
    registry = TidyRegistry(agent_executor=Scripted(echo), task_store=store)
    before = asyncio.all_tasks()
    first = asyncio.create_task(registry.get_or_create("t", ServerCallContext(), create_task_if_missing=True))
    await store.reached.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    store.release.set()
    again = await registry.get_or_create("t", ServerCallContext(), create_task_if_missing=True)
    async with asyncio.timeout(5):
        kinds = [type(event).__name__ async for event in again.subscribe(request=request())]
        while asyncio.all_tasks() - before:
            await asyncio.sleep(0.01)
    assert kinds[0] == "Task"
    assert kinds[-1] == "TaskStatusUpdateEvent"
    await registry.aclose()
    await store.close()


async def test_a_second_cancel_during_the_end_of_the_first_is_answered_too_and_leaves_nothing() -> None:
    store = HeldStore()
    await store.open()

    async def wait(stage: Stage) -> None:
        await stage.task()
        await stage.status(TaskState.TASK_STATE_WORKING)
        await asyncio.Event().wait()

    registry = TidyRegistry(agent_executor=Scripted(wait), task_store=store)
    before = asyncio.all_tasks()
    task = await registry.get_or_create("t", ServerCallContext(), create_task_if_missing=True)
    events = task.subscribe(request=request())
    await anext(events)
    store.held = "save"
    await store.reached.wait()
    cancels = []
    for _ in range(3):
        cancels.append(asyncio.create_task(task.cancel(ServerCallContext())))
        for _ in range(20):  # its way through the executor, to where the producer is canceled
            await asyncio.sleep(0)
    store.release.set()
    async with asyncio.timeout(5):
        ended = await asyncio.gather(*cancels)
        await events.aclose()
        while asyncio.all_tasks() - before:
            await asyncio.sleep(0.01)
    assert {one.status.state for one in ended} == {TaskState.TASK_STATE_CANCELED}
    await registry.aclose()
    await store.close()


def request() -> RequestContext:
    message = Message(
        message_id="m", task_id="t", context_id="c", role=Role.ROLE_USER, parts=[Part(text="hi")]
    )
    return RequestContext(ServerCallContext(), SendMessageRequest(message=message), "t", "c")


def test_the_handler_uses_it() -> None:
    assert "TidyRegistry" in PlatformRequestHandler.__init__.__code__.co_names

"""A task that is answered at one replica and canceled at another: each caller hears what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from a2a.server.agent_execution import RequestContext
from a2a.server.events.event_queue import EventQueue
from a2a.types.a2a_pb2 import Task
from a2a.utils.errors import UnsupportedOperationError

from tests.postgres import PostgresServer
from tests.unit.engine.replicas import Replica, replica_at
from tests.unit.engine.turns import CALL, OWNER, Executor, status_of, task_of, turn
from utils.errors import TaskBusy
from utils.persistence.runs import RunRow

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300), pytest.mark.xdist_group("postgres")]


async def ask(context: RequestContext, queue: EventQueue) -> None:
    """An executor's work: a question that is never answered."""
    await queue.enqueue_event(task_of(context))
    await queue.enqueue_event(status_of(context, "input_required", "Which one?"))


@pytest.fixture
async def asking(postgres: PostgresServer) -> AsyncIterator[tuple[Replica, Replica]]:
    """Two replicas, and a task `a` that waits for its user."""
    settings = postgres.settings(await postgres.migrated())
    async with AsyncExitStack() as stack:
        first, second = [await stack.enter_async_context(replica_at(settings, Executor(ask))) for _ in "12"]
        await first.submit(turn("a"))
        assert await first.rest("a") == ["input_required"]
        yield first, second


class HeldUp:
    """Holds up a replica that accepts an answer, just before or after its row is stored."""

    def __init__(self, replica: Replica, monkeypatch: pytest.MonkeyPatch, *, stored: bool) -> None:
        self.reached, self.goes_on = asyncio.Event(), asyncio.Event()
        put = replica.runs.put

        async def held(row: RunRow) -> None:
            if stored:
                await put(row)
            self.reached.set()
            await self.goes_on.wait()
            if not stored:
                await put(row)

        monkeypatch.setattr(replica.runs, "put", held)
        self.answering = asyncio.create_task(replica.submit(turn("a", message_id="answer")))


@pytest.mark.parametrize("stored", [True, False])
async def test_an_answer_to_a_task_that_is_canceled_at_another_replica_meanwhile_is_refused(
    asking: tuple[Replica, Replica], monkeypatch: pytest.MonkeyPatch, stored: bool
) -> None:
    first, second = asking
    held = HeldUp(second, monkeypatch, stored=stored)
    await held.reached.wait()
    await first.engine.cancel("a", OWNER, CALL)
    held.goes_on.set()
    with pytest.raises(UnsupportedOperationError, match="The task has ended"):
        await held.answering
    assert await second.state("a") == "canceled"
    assert await second.runs.rows() == []


async def test_an_answer_to_a_task_of_which_a_cancel_is_under_way_elsewhere_is_refused(
    asking: tuple[Replica, Replica], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = asking
    told, ends = asyncio.Event(), asyncio.Event()

    async def slow(context: RequestContext, queue: EventQueue) -> None:
        told.set()
        await ends.wait()

    monkeypatch.setattr(first.executor, "cancel", slow)
    held = HeldUp(second, monkeypatch, stored=True)
    await held.reached.wait()
    canceling = asyncio.create_task(first.engine.cancel("a", OWNER, CALL))
    await told.wait()
    held.goes_on.set()
    with pytest.raises(TaskBusy):
        await held.answering
    ends.set()
    await canceling
    assert await second.state("a") == "canceled"
    assert await second.runs.rows() == []


@pytest.mark.parametrize("look", [2, 3, 4, 5])
async def test_a_cancel_whose_task_another_replica_cancels_meanwhile_is_not_refused(
    asking: tuple[Replica, Replica], monkeypatch: pytest.MonkeyPatch, look: int
) -> None:
    first, second = asking
    head, looks = first.log.head, 0

    async def looked(task_id: str, owner: str) -> Task | None:
        nonlocal looks
        looks += 1
        if looks == look:
            await second.engine.cancel(task_id, owner, CALL)
        return await head(task_id, owner)

    monkeypatch.setattr(first.log, "head", looked)
    await first.engine.cancel("a", OWNER, CALL)
    assert looks >= look
    assert await first.state("a") == "canceled"

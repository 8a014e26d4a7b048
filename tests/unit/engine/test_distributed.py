"""Two replicas of an agent on one database: who runs what, and what becomes of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import NamedTuple

import pytest
from a2a.types.a2a_pb2 import TaskStatusUpdateEvent
from a2a.utils.errors import TaskNotCancelableError

from tests.postgres import AGENT, PostgresServer
from tests.unit.engine.replicas import Replica, replica_at
from tests.unit.engine.turns import CALL, OWNER, Executor, status_of, task_of, turn
from utils.a2a_common.engine import sweeper
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.a2a_common.server.commands.database import further_tables
from utils.errors import Draining, Overloaded, TaskBusy, TooManyRequests
from utils.observability.metrics import process_metrics
from utils.persistence.postgres.errors import DatabaseUnreachable
from utils.persistence.postgres.migrate import upgrade
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.settings import DatabaseSettings

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300), pytest.mark.xdist_group("postgres")]


STANDING_STILL = """
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'
"""


class Pair(NamedTuple):
    """Two replicas."""

    first: Replica
    second: Replica

    @property
    def begun(self) -> list[str]:
        return self.first.executor.began + self.second.executor.began

    def close_gates(self) -> None:
        for each in self:
            each.executor.gate.clear()

    def open_gates(self) -> None:
        for each in self:
            each.executor.gate.set()

    async def where(self, task_id: str) -> tuple[Replica, Replica]:
        """The replica that runs a turn, once it does, and the other."""
        async with asyncio.timeout(60):
            while task_id not in self.begun:
                await asyncio.sleep(0.01)
        first = task_id in self.first.executor.began
        return (self.first, self.second) if first else (self.second, self.first)


@pytest.fixture
async def url(postgres: PostgresServer) -> str:
    return await postgres.migrated()


@pytest.fixture
async def pair(postgres: PostgresServer, url: str) -> AsyncIterator[Pair]:
    async with AsyncExitStack() as stack:
        made = []
        for _ in range(2):
            executor = Executor(resumable=True)
            replica = replica_at(postgres.settings(url), executor, max_turns=2, max_waiting=2)
            made.append(await stack.enter_async_context(replica))
        yield Pair(*made)


async def test_a_conversation_has_one_turn_at_a_time_over_both_and_the_next_follows(pair: Pair) -> None:
    pair.close_gates()
    await pair.first.submit(turn("a", conversation="x"))
    await pair.second.submit(turn("b", conversation="x"))
    await pair.first.submit(turn("c"))
    await pair.where("a")
    await pair.where("c")
    assert "b" not in pair.begun
    pair.open_gates()
    assert await pair.first.rest("a", "b", "c") == ["completed"] * 3
    assert await pair.second.runs.rows() == []
    assert [context.resumed for each in pair for context in each.executor.contexts] == [False] * 3


async def test_the_bounded_line_counts_over_both(pair: Pair) -> None:
    pair.close_gates()
    for name in "abcd":
        await pair.first.submit(turn(name))
        await pair.where(name)
    assert [len(each.executor.began) for each in pair] == [2, 2]
    await pair.first.submit(turn("e"))
    await pair.second.submit(turn("f"))
    for each in pair:
        with pytest.raises(Overloaded):
            await each.submit(turn("g"))
    pair.open_gates()
    assert await pair.first.rest(*"abcdef") == ["completed"] * 6
    assert await pair.first.state("g") == ""


async def test_the_turns_of_one_caller_are_counted_over_both_and_another_one_is_served(
    postgres: PostgresServer, url: str
) -> None:
    async with AsyncExitStack() as stack:
        both = Pair(
            *[
                await stack.enter_async_context(
                    replica_at(postgres.settings(url), Executor(resumable=True), caller_turns=2)
                )
                for _ in range(2)
            ]
        )
        both.close_gates()
        await both.first.submit(turn("a", conversation="x"))
        await both.second.submit(turn("b", conversation="x"))
        for each in both:
            with pytest.raises(TooManyRequests):
                await each.submit(turn("c"))
        await both.second.submit(turn("d", owner="another"))
        await both.where("d")
        both.open_gates()
        assert await both.first.rest("a", "b") == ["completed"] * 2


async def test_a_task_that_another_replica_works_on_takes_no_second_message_and_the_same_once(
    pair: Pair,
) -> None:
    pair.close_gates()
    await pair.first.submit(turn("a"))
    _, other = await pair.where("a")
    assert await other.engine.has_turn("a", OWNER)
    await other.submit(turn("a"))
    with pytest.raises(TaskBusy):
        await other.submit(turn("a", message_id="m2"))
    pair.open_gates()
    assert await other.rest("a") == ["completed"]
    assert not await other.engine.has_turn("a", OWNER)
    assert pair.begun == ["a"]


async def test_a_cancel_stops_a_run_at_another_replica(pair: Pair) -> None:
    pair.close_gates()
    await pair.first.submit(turn("a"), turn("b", conversation="conversation of a"))
    runs, other = await pair.where("a")
    await other.engine.cancel("a", OWNER, CALL)
    assert await other.state("a") == "canceled"
    assert runs.executor.stopped == ["a"]
    await pair.where("b")  # the lock of the conversation is free
    await runs.engine.cancel("b", OWNER, CALL)
    assert await pair.first.rest("a", "b") == ["canceled"] * 2
    with pytest.raises(TaskNotCancelableError):
        await other.engine.cancel("b", OWNER, CALL)
    assert await pair.first.runs.rows() == []


async def test_a_turn_that_waits_is_canceled_and_never_begins(pair: Pair) -> None:
    pair.close_gates()
    await pair.first.submit(turn("a", conversation="x"), turn("b", conversation="x"))
    await pair.where("a")
    await pair.second.engine.cancel("b", OWNER, CALL)
    pair.open_gates()
    assert await pair.first.rest("a", "b") == ["completed", "canceled"]
    assert pair.begun == ["a"]


async def test_an_abort_at_one_agent_stops_no_turn_of_another_with_the_same_job_id(
    postgres: PostgresServer, url: str
) -> None:
    settings = postgres.settings(url)
    pool = PostgresPool(settings, agent="other")
    await pool.open()
    await upgrade(pool, "other", further_tables())
    await pool.close()
    executors = Executor(resumable=True), Executor(resumable=True)
    for executor in executors:
        executor.gate.clear()
    async with (
        replica_at(settings, executors[0], agent=AGENT) as ours,
        replica_at(settings, executors[1], agent="other") as theirs,
    ):
        await ours.submit(turn("a"))
        await theirs.submit(turn("a"))
        await executors[0].begun(1)
        await executors[1].begun(1)
        jobs = [await each.queue.find("a") for each in (ours, theirs)]
        assert [job.job_id for job in jobs if job] == [1, 1]
        await ours.engine.cancel("a", OWNER, CALL)
        executors[1].gate.set()
        assert await theirs.rest("a") == ["completed"]
        assert executors[1].stopped == []


async def test_a_replica_that_stops_hands_its_turns_over(pair: Pair) -> None:
    pair.close_gates()
    await pair.first.submit(turn("a"))
    runs, other = await pair.where("a")
    other.executor.gate.set()
    await runs.engine.drain(0)
    with pytest.raises(Draining):
        await runs.submit(turn("b"))
    assert await other.rest("a") == ["completed"]
    assert [context.resumed for context in other.executor.contexts] == [True]


async def test_a_reply_on_another_replica_goes_on_with_the_task(pair: Pair) -> None:
    async def ask(context, queue) -> None:
        if context.current_task is None:
            await queue.enqueue_event(task_of(context))
            await queue.enqueue_event(status_of(context, "input_required", "Which one?"))
        else:
            await queue.enqueue_event(status_of(context, "completed"))

    for each in pair:
        each.executor.work = ask
    await pair.first.submit(turn("a"))
    async with asyncio.timeout(60):
        events = [entry.event async for entry in pair.second.log.read("a", OWNER)]
    assert isinstance(events[-1], TaskStatusUpdateEvent)
    assert events[-1].status.message.parts[0].text == "Which one?"
    await pair.second.submit(turn("a", message_id="reply"))
    assert await pair.first.rest("a") == ["completed"]
    contexts = [context for each in pair for context in each.executor.contexts]
    assert sorted(context.answers for context in contexts) == [False, True]


async def test_a_turn_that_was_taken_over_twice_fails_as_interrupted(pair: Pair) -> None:
    pair.close_gates()
    await pair.first.submit(turn("a"))
    runs, other = await pair.where("a")
    row = await runs.runs.row("a")
    assert row is not None
    await runs.runs.take("a", writer=row.writer + 1, attempts=2)
    await runs.engine.drain(0)
    assert await other.rest("a") == ["failed"]
    head = await other.log.head("a", OWNER)
    assert head is not None
    assert head.metadata.fields[ERROR_EXTENSION].struct_value["code"] == "interrupted"


async def test_what_was_accepted_and_is_in_no_queue_is_run(
    postgres: PostgresServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("utils.a2a_common.engine.sweeper.STRAY_SECONDS", 0.1)
    executor = Executor(resumable=True)
    executor.gate.clear()
    async with replica_at(postgres.settings(url), executor, takeover=1) as replica:
        await replica.submit(turn("a", conversation="x"), turn("b", conversation="x"))
        await executor.begun(1)
        waiting = await replica.queue.find("b")
        assert waiting is not None
        assert await replica.queue.withdraw(waiting)
        executor.gate.set()
        await executor.begun(2)
        assert await replica.rest("a", "b") == ["completed", "completed"]


async def test_no_turn_begins_of_a_conversation_whose_turns_are_held(pair: Pair) -> None:
    async with pair.first.engine.hold_turns("x") as held:
        assert held
        submitted = asyncio.create_task(pair.second.submit(turn("a", conversation="x")))
        await pair.second.submit(turn("b"))
        assert await pair.second.rest("b") == ["completed"]
        assert not submitted.done()
    await submitted
    pair.close_gates()
    await pair.first.submit(turn("c", conversation="x"))
    async with pair.second.engine.hold_turns("x") as held:
        assert not held
    pair.open_gates()
    assert await pair.first.rest("a", "c") == ["completed"] * 2


async def test_conversations_whose_turns_are_held_take_no_connection_from_turns_and_leave_no_transaction_open(
    pair: Pair, postgres: PostgresServer, url: str
) -> None:
    """Many are deleted at once, and each deletion may wait for an agent for as long as a transaction may stand still."""
    async with AsyncExitStack() as stack:
        for number in range(DatabaseSettings.load({}).connections + 1):
            assert await stack.enter_async_context(pair.first.engine.hold_turns(f"x{number}"))
        await pair.first.submit(turn("a"))
        assert await pair.first.rest("a") == ["completed"]
        async with asyncio.timeout(60):
            while postgres.execute(STANDING_STILL, url) != [(0,)]:
                await asyncio.sleep(0.02)


async def test_metrics_tell_how_many_turns_wait_over_all_replicas(postgres: PostgresServer, url: str) -> None:
    executor = Executor(resumable=True)
    executor.gate.clear()

    async def told(waiting: int) -> None:
        async with asyncio.timeout(60):
            while f"platform_engineer_turns_waiting {waiting}.0" not in process_metrics().text().decode():
                await asyncio.sleep(0.02)

    async with replica_at(postgres.settings(url), executor, takeover=1) as replica:
        await replica.submit(*(turn(name, conversation="x") for name in "abc"))
        await told(2)
        executor.gate.set()
        await told(0)


async def test_a_turn_that_is_stored_when_the_database_goes_away_is_accepted_and_runs_once(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeper, "STRAY_SECONDS", 0.05)

    async def away(*_asked: object, **_more: object) -> None:
        raise DatabaseUnreachable("The database cannot be reached.")

    with monkeypatch.context() as outage:
        outage.setattr(pair.first.queue, "_defer", away)
        await pair.first.submit(turn("a"))
    assert [row.task_id for row in await pair.first.runs.rows()] == ["a"]
    await pair.where("a")
    assert await pair.first.rest("a") == ["completed"]
    assert pair.begun == ["a"]


async def test_a_turn_that_is_not_stored_when_the_database_goes_away_is_refused_and_never_runs(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(_row: object) -> None:
        raise DatabaseUnreachable("The database cannot be reached.")

    with monkeypatch.context() as outage:
        outage.setattr(pair.first.runs, "put", away)
        with pytest.raises(DatabaseUnreachable):
            await pair.first.submit(turn("a"))
    assert await pair.first.runs.rows() == []
    assert pair.begun == []

"""A message that cannot be stored is refused, and changes nothing: sent again, it is taken."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from a2a.server.agent_execution import RequestContext
from a2a.server.events.event_queue import EventQueue

from tests.postgres import PostgresServer
from tests.unit.engine.replicas import Replica, replica_at
from tests.unit.engine.turns import CALL, OWNER, Executor, House, status_of, task_of, turn
from tests.unit.tasks.faulty_store import FaultyStore
from utils.errors import StorageError, StorageFull
from utils.persistence.task_log_sqlite import SqliteTaskLogStore

_REFUSE = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full'; END $$
"""
_FULL = "CREATE TRIGGER full_disk BEFORE {} ON tasks FOR EACH ROW EXECUTE FUNCTION refuse()"
_FREE = "DROP TRIGGER full_disk ON tasks"
"""What PostgreSQL says where the disk is full, for one table of one database."""


async def ask(context: RequestContext, queue: EventQueue) -> None:
    """An executor's work: a question, and with its answer the end."""
    if context.current_task is None:
        await queue.enqueue_event(task_of(context))
        await queue.enqueue_event(status_of(context, "input_required", "Which one?"))
    else:
        await queue.enqueue_event(status_of(context, "completed"))


async def check_question_open(house: House | Replica) -> None:
    """The question of the task stands as it was asked."""
    head = await house.log.head("a", OWNER)
    assert head is not None
    assert await house.state("a") == "input_required"
    assert head.status.message.parts[0].text == "Which one?"
    assert [message.message_id for message in head.history] == ["m-a"]
    assert await house.runs.rows() == []


async def asking(store: FaultyStore | SqliteTaskLogStore) -> House:
    """A process that has asked."""
    house = House(Executor(ask), store)
    await house.log.open()
    await house.submit(turn("a"))
    assert await house.settled("a") == ["input_required"]
    return house


async def test_an_answer_that_is_refused_leaves_its_question_open_and_is_taken_when_it_is_sent_again() -> (
    None
):
    store = FaultyStore()
    house = await asking(store)
    store.failing = {"a"}
    with pytest.raises(StorageError):
        await house.submit(turn("a", message_id="answer"))
    store.failing.clear()
    await check_question_open(house)
    await house.submit(turn("a", message_id="answer"))
    assert await house.settled("a") == ["completed"]
    await house.log.close()


@pytest.mark.parametrize("stored", [True, False])
async def test_an_answer_of_which_it_is_not_known_whether_it_is_stored_is_taken_back(stored: bool) -> None:
    store = FaultyStore()
    house = await asking(store)
    store.blind, store.unanswered = True, stored
    store.failing = set() if stored else {"a"}
    with pytest.raises(StorageError):
        await house.submit(turn("a", message_id="answer"))
    store.blind = store.unanswered = False
    store.failing.clear()
    await house.log.close()  # what waits to be stored is tried once more
    await check_question_open(house)
    await house.submit(turn("a", message_id="answer"))
    assert await house.settled("a") == ["completed"]
    await house.log.close()


async def test_an_answer_that_a_full_file_cannot_take_leaves_its_question_open(tmp_path: Path) -> None:
    store = SqliteTaskLogStore(tmp_path / "tasks.sqlite")
    house = await asking(store)
    answer = turn("a", message_id="answer", text="x" * 100_000)
    await store._database.write(lambda db: db.execute("PRAGMA max_page_count=1"))  # no more than there are
    with pytest.raises(StorageFull):
        await house.submit(answer)
    await check_question_open(house)
    await store._database.write(lambda db: db.execute("PRAGMA max_page_count=100000"))
    await check_question_open(house)
    await house.submit(answer)
    assert await house.settled("a") == ["completed"]
    await house.log.close()


@pytest.mark.servers
@pytest.mark.timeout(300)
async def test_an_answer_that_a_full_database_cannot_take_leaves_its_question_open(
    postgres: PostgresServer,
) -> None:
    url = await postgres.migrated()
    async with replica_at(postgres.settings(url), Executor(ask)) as replica:
        await replica.submit(turn("a"))
        assert await replica.rest("a") == ["input_required"]
        await replica.pool.execute(_REFUSE)
        await replica.pool.execute(_FULL.format("UPDATE"))
        with pytest.raises(StorageFull):
            await replica.engine.submit(turn("a", message_id="answer"), CALL)
        await check_question_open(replica)
        await replica.pool.execute(_FREE)
        await check_question_open(replica)
        await replica.submit(turn("a", message_id="answer"))
        assert await replica.rest("a") == ["completed"]


@pytest.mark.servers
@pytest.mark.timeout(300)
async def test_a_first_message_that_a_full_database_cannot_take_leaves_nothing(
    postgres: PostgresServer,
) -> None:
    url = await postgres.migrated()
    async with replica_at(postgres.settings(url), Executor()) as replica:
        await replica.pool.execute(_REFUSE)
        await replica.pool.execute(_FULL.format("INSERT"))
        with pytest.raises(StorageFull):
            await replica.submit(turn("a"))
        assert await replica.state("a") == ""
        assert await replica.runs.rows() == []
        await replica.pool.execute(_FREE)
        await replica.submit(turn("a"))
        assert await replica.rest("a") == ["completed"]


async def test_a_task_whose_answer_is_refused_while_it_is_canceled_is_canceled_once() -> None:
    store = FaultyStore()
    house = await asking(store)
    store.failing = {"a"}
    refused = asyncio.create_task(house.submit(turn("a", message_id="answer")))
    while not house.engine.under_way("a"):
        await asyncio.sleep(0)
    canceling = asyncio.create_task(house.engine.cancel("a", OWNER, CALL))
    with pytest.raises(StorageError):
        await refused
    store.failing.clear()
    await canceling
    assert await house.state("a") == "canceled"
    assert house.executor.canceled == ["a"]
    await house.log.close()

"""Giving conversations to another owner: one whose turn begins meanwhile stays, as one does whose place is taken."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.contract.stores.test_erasing_under_way import PUT, TURN, until_it_waits
from tests.contract.stores.test_stored_messages import Room, messages, turn
from tests.contract.stores.told import Place
from tests.postgres import PostgresServer
from utils.encryption.codec import PLAIN
from utils.persistence.adoption import Heir, Plan, adopt_in_database, adopt_in_files
from utils.persistence.postgres.task_log import PostgresTaskLogStore
from utils.persistence.task_log_store import Record, RecordKind, Row, Write

HEIR = Heir("ann", "ben", "issuer ben", "", lambda owner, context: f"{owner}/{context}")


async def ask(store: Any) -> None:
    """Store a task of Ann's."""
    await store.open()
    attempt = (await store.claim("t1", "ann")).attempt
    head = Row("t1", "ann", "c1", 2, 1, b"head", 1)
    await store.append(Write("t1", "ann", attempt, 0, (Record(1, RecordKind.TASK, b"x"),), row=head))


async def conversation_of_ann(stores: Any, *owners: str) -> list[Any]:
    """Store a task of Ann's, and a turn of each owner under the id of its conversation; what was said."""
    log = stores.task_log()
    await ask(log)
    async with stores.checkpointer() as saver:
        said = [await turn(saver, f"{owner}/c1") for owner in owners]
    await log.close()
    return said


async def adopted(storage: Place) -> Plan:
    """Give Ben what is Ann's."""
    if storage.pool is None:
        return adopt_in_files(storage.home, HEIR, PLAIN, dry=False)
    return await adopt_in_database(storage.pool, HEIR, PLAIN, dry=False)


@pytest.mark.servers
@pytest.mark.timeout(300)
async def test_a_turn_that_was_just_accepted_is_waited_for_and_its_conversation_stays(
    postgres: PostgresServer,
) -> None:
    async with postgres.opened() as pool:
        store = PostgresTaskLogStore(pool)
        await ask(store)

        async with pool.transaction() as accepting:
            await accepting.execute(PUT, TURN)
            adopting = asyncio.create_task(adopt_in_database(pool, HEIR, PLAIN, dry=False))
            await until_it_waits(pool, adopting)
        plan = await adopting

        assert (plan.tasks, plan.left) == ({}, ["c1"])
        assert await store.look("t1", "ann") is not None


async def test_a_conversation_stays_where_the_new_owner_has_messages_under_its_id_though_no_task(
    storage: Place,
) -> None:
    stores = Room(storage).stores
    said = await conversation_of_ann(stores, "ann", "ben")
    plan = await adopted(storage)
    assert (plan.tasks, plan.left) == ({}, ["c1"])
    async with stores.checkpointer() as saver:
        assert [await messages(saver, f"{owner}/c1") for owner in ("ann", "ben")] == said


async def test_a_conversation_whose_messages_were_moved_before_its_tasks_is_moved_by_the_next_run(
    storage: Place,
) -> None:
    stores = Room(storage).stores
    # as a run leaves it that was killed before it came to the tasks
    (said,) = await conversation_of_ann(stores, "ben")
    plan = await adopted(storage)
    assert (plan.tasks, plan.left) == ({"c1": ["t1"]}, [])
    async with stores.checkpointer() as saver:
        assert await messages(saver, "ben/c1") == said

"""Giving conversations to another owner: one whose turn begins meanwhile stays, as one does whose place is taken."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from cryptography.fernet import Fernet

from tests.contract.stores.test_erasing_under_way import PUT, TURN, until_it_waits
from tests.contract.stores.test_stored_messages import Room, messages, turn
from tests.contract.stores.told import Place, Told, all_told
from tests.postgres import PostgresServer
from utils.encryption.codec import PLAIN, PLAIN_WORD, Codec
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


async def adopted(storage: Place, heir: Heir = HEIR, codec: Codec = PLAIN) -> Plan:
    """Give Ben what is Ann's."""
    if storage.pool is None:
        return adopt_in_files(storage.home, heir, codec, dry=False)
    return await adopt_in_database(storage.pool, heir, codec, dry=False)


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


KEY = Fernet.generate_key().decode()


@pytest.mark.parametrize("before", [[], [KEY]], ids=["plain", "encrypted"])
@pytest.mark.parametrize("then", [[PLAIN_WORD, KEY], [KEY]], ids=["plain first", "the key first"])
async def test_what_was_stored_before_and_between_the_steps_to_the_first_key_is_read_where_it_was_moved(
    storage: Place, before: list[str], then: list[str]
) -> None:
    await all_told(storage, Codec(before))
    async with Told(storage, Codec(before)) as told:
        await told.runs.remove("bob", writer=0)
    heir = Heir("bob", "cat", "cat", "", lambda owner, _: owner)
    assert (await adopted(storage, heir, Codec(then))).tasks == {"bob": ["bob"]}
    async with Told(storage, Codec(then)) as told:
        found = await told.log.look("bob", "cat")
        assert found is not None
        assert found.row is not None
        assert found.row.body == b"bob"
        assert await told.titles.get("cat", "bob") == await told.artifacts.get("cat", "h") == "bob"
        assert [each.request for each in await told.delegations.unanswered("cat", "a")] == ["bob"]
        assert await told.said("cat") == {"bob"}
        assert [each.what for each in await told.journal.unreported("cat")] == ["bob"]
        hooks = {each.config.url for each in told.push.all_webhooks() if each.owner == "cat"}
        assert hooks == {"http://bob"}

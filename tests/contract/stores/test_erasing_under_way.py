"""Erasing a person in PostgreSQL, where the service may run: a turn that begins meanwhile keeps its conversation, and a deletion goes on with its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.contract.queue.kinds import replica
from tests.postgres import PostgresServer
from utils.a2a_common.engine.postgres_queue_tables import PostgresQueueTables
from utils.a2a_common.engine.procrastinate_queue import ProcrastinateQueue
from utils.encryption.codec import PLAIN
from utils.persistence.adoption import Heir, adopt_in_database
from utils.persistence.erasure import DataSubject, erase_in_database
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.postgres.task_log import PostgresTaskLogStore
from utils.persistence.postgres.turn_hold import hold_all_turns
from utils.persistence.runs import conversation_key
from utils.persistence.task_log_store import Record, RecordKind, Row, Write

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

ANN = DataSubject(["ann"], lambda owner, context: f"{owner}/{context}")
TURN = ("t1", "conversation", "ann", b"{}", 1, 0)
PUT = (
    b"INSERT INTO runs (task_id, conversation, owner, body, writer, attempts) VALUES (%s, %s, %s, %s, %s, %s)"
)
WAITS = "SELECT pid FROM pg_locks WHERE relation = 'runs'::regclass AND NOT granted"


async def test_a_turn_that_was_just_accepted_is_waited_for_and_keeps_its_conversation(
    postgres: PostgresServer,
) -> None:
    async with postgres.opened() as pool:
        store = await task_of_ann(pool)

        async with pool.transaction() as accepting:
            await accepting.execute(PUT, TURN)
            erasing = asyncio.create_task(erase_in_database(pool, ANN, dry=False))
            await until_it_waits(pool, erasing)
        erased = await erasing

        assert (dict(erased.conversations), erased.left) == ({}, ["c1"])
        assert await store.look("t1", "ann") is not None


async def task_of_ann(pool: PostgresPool) -> PostgresTaskLogStore:
    """A task of Ann's in the conversation `c1`; the store that has it."""
    store = PostgresTaskLogStore(pool)
    await store.open()
    attempt = (await store.claim("t1", "ann")).attempt
    head = Row("t1", "ann", "c1", 3, 1, b"head", 1)
    await store.append(Write("t1", "ann", attempt, 0, (Record(1, RecordKind.TASK, b"x"),), row=head))
    return store


HEIR = Heir("ann", "ben", "issuer ben", "", lambda owner, context: f"{owner}/{context}")


async def erased(pool: PostgresPool) -> list[str]:
    """Erase what is Ann's; the conversations that stay."""
    return list((await erase_in_database(pool, ANN, dry=False)).left)


async def adopted(pool: PostgresPool) -> list[str]:
    """Give Ben what is Ann's; the conversations that stay."""
    return list((await adopt_in_database(pool, HEIR, PLAIN, dry=False)).left)


@pytest.mark.parametrize("command", [erased, adopted])
async def test_a_conversation_that_a_process_is_deleting_is_left_to_it(
    postgres: PostgresServer, command: Callable[[PostgresPool], Awaitable[list[str]]]
) -> None:
    async with postgres.opened() as pool, replica(lambda: PostgresQueueTables(pool)) as process:
        store = await task_of_ann(pool)
        async with process.queue.hold_turns(conversation_key("ann", "c1")) as held:
            assert held
            assert await command(pool) == ["c1"]
        assert await store.look("t1", "ann") is not None
        assert await command(pool) == []
        assert await store.look("t1", "ann") is None


async def test_a_deletion_that_begins_while_a_command_works_waits_for_it(postgres: PostgresServer) -> None:
    async with postgres.opened() as pool, replica(lambda: PostgresQueueTables(pool)) as process:
        async with pool.transaction() as command:
            await hold_all_turns(command)
            deleting = asyncio.create_task(turns_held(process.queue))
            await until_it_waits(pool, deleting)
        assert await deleting


async def turns_held(queue: ProcrastinateQueue) -> bool:
    """Whether the turns of the conversation could be held."""
    async with queue.hold_turns(conversation_key("ann", "c1")) as held:
        return held


async def until_it_waits(pool: PostgresPool, erasing: asyncio.Task[object]) -> None:
    """Wait until another connection asks for the lock."""
    while not await pool.one(WAITS):
        assert not erasing.done(), "it did not wait for the turn"
        await asyncio.sleep(0.01)

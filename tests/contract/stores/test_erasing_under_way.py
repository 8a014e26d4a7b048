"""Erasing a person in PostgreSQL, where the service may run: a turn that begins meanwhile keeps its conversation."""

from __future__ import annotations

import asyncio

import pytest

from tests.postgres import PostgresServer
from utils.persistence.erasure import DataSubject, erase_in_database
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.postgres.task_log import PostgresTaskLogStore
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
        store = PostgresTaskLogStore(pool)
        await store.open()
        attempt = (await store.claim("t1", "ann")).attempt
        head = Row("t1", "ann", "c1", 2, 1, b"head", 1)
        await store.append(Write("t1", "ann", attempt, 0, (Record(1, RecordKind.TASK, b"x"),), row=head))

        async with pool.transaction() as accepting:
            await accepting.execute(PUT, TURN)
            erasing = asyncio.create_task(erase_in_database(pool, ANN, dry=False))
            await until_it_waits(pool, erasing)
        erased = await erasing

        assert (dict(erased.conversations), erased.left) == ({}, ["c1"])
        assert await store.look("t1", "ann") is not None


async def until_it_waits(pool: PostgresPool, erasing: asyncio.Task[object]) -> None:
    """Wait until another connection asks for the lock."""
    while not await pool.one(WAITS):
        assert not erasing.done(), "it did not wait for the turn"
        await asyncio.sleep(0.01)

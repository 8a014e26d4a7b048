"""Giving conversations to another owner in PostgreSQL, where the service may run: a turn that begins meanwhile keeps its conversation."""

from __future__ import annotations

import asyncio

import pytest

from tests.contract.stores.test_erasing_under_way import PUT, TURN, until_it_waits
from tests.postgres import PostgresServer
from utils.encryption.codec import PLAIN
from utils.persistence.adoption import Heir, adopt_in_database
from utils.persistence.postgres.task_log import PostgresTaskLogStore
from utils.persistence.task_log_store import Record, RecordKind, Row, Write

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

HEIR = Heir("ann", "ben", "issuer ben", "", lambda owner, context: f"{owner}/{context}")


async def test_a_turn_that_was_just_accepted_is_waited_for_and_its_conversation_stays(
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
            adopting = asyncio.create_task(adopt_in_database(pool, HEIR, PLAIN, dry=False))
            await until_it_waits(pool, adopting)
        plan = await adopting

        assert (plan.tasks, plan.left) == ({}, ["c1"])
        assert await store.look("t1", "ann") is not None

"""A table of PostgreSQL that somebody else locks, as an ALTER TABLE does: who waits for it hears of that in time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest
from a2a.server.agent_execution import RequestContext
from a2a.server.events.event_queue import EventQueue
from psycopg import sql

from tests.postgres import PostgresServer
from tests.unit.engine.replicas import Replica, replica_at
from tests.unit.engine.turns import OWNER, Executor, answer, status_of, turn
from utils.errors import StorageError
from utils.persistence.postgres import probe
from utils.persistence.postgres.errors import DatabaseHeld
from utils.persistence.postgres.probe import HELD, LATE, PoolProbe

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]


@pytest.fixture
async def hasty(postgres: PostgresServer) -> AsyncIterator[Replica]:
    """A replica that does not wait long for its database."""
    settings = postgres.settings(await postgres.migrated(), DATABASE_WAIT_SECONDS="0.5")
    executor = Executor()
    executor.gate.clear()
    async with replica_at(settings, executor) as replica:
        yield replica


@asynccontextmanager
async def locked(replica: Replica, table: str) -> AsyncIterator[None]:
    """Hold a table, so that nobody else may even read it."""
    async with (
        await psycopg.AsyncConnection.connect(replica.pool.conninfo) as other,
        other.transaction(force_rollback=True),
    ):
        name = sql.Identifier(replica.pool.schema, table)
        await other.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(name))
        async with asyncio.timeout(30):  # else a statement that waits for ever would wait for this block
            yield


@pytest.mark.parametrize("table", ["tasks", "task_attempts", "runs", "procrastinate_jobs"])
async def test_a_message_that_meets_a_locked_table_is_refused_in_time_and_taken_when_it_is_free(
    hasty: Replica, table: str
) -> None:
    async with locked(hasty, table):
        with pytest.raises(StorageError):
            await hasty.submit(turn("a"))
    hasty.executor.gate.set()
    await hasty.submit(turn("a"))
    assert await hasty.rest("a") == ["completed"]


async def test_what_waited_too_long_for_a_lock_says_so(hasty: Replica) -> None:
    async with locked(hasty, "tasks"):
        with pytest.raises(DatabaseHeld, match="lock"):
            await hasty.log.head("a", OWNER)
    assert await hasty.log.head("a", OWNER) is None


async def test_a_turn_that_meets_a_locked_table_fails_with_that_and_the_next_one_is_served(
    hasty: Replica,
) -> None:
    async def answers_on_and_on(context: RequestContext, queue: EventQueue) -> None:
        await queue.enqueue_event(status_of(context, "working"))
        await asyncio.Event().wait()

    hasty.executor.work = answers_on_and_on
    await hasty.submit(turn("a"))
    await hasty.executor.begun(1)
    async with locked(hasty, "task_events"):
        hasty.executor.gate.set()
        while await hasty.state("a") != "failed":
            await asyncio.sleep(0.02)
    assert await hasty.rest("a") == ["failed"]
    head = await hasty.log.head("a", OWNER)
    assert head is not None
    assert "lock" in head.status.message.parts[0].text
    hasty.executor.work = answer
    await hasty.submit(turn("b"))
    assert await hasty.rest("b") == ["completed"]


async def test_readiness_names_no_cause_before_it_knows_one(
    hasty: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unanswered(*_: object) -> bool:
        await asyncio.Event().wait()
        return True

    monkeypatch.setattr(probe, "_holds", unanswered)
    monkeypatch.setattr(probe, "WAIT_SECONDS", 0.0)
    assert await PoolProbe(hasty.pool).problem() == LATE


async def test_readiness_tells_a_lock_on_a_table_until_it_is_given_back(
    hasty: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(probe, "WAIT_SECONDS", 60.0)
    asked = PoolProbe(hasty.pool)
    assert await asked.problem() == ""
    async with locked(hasty, "runs"):
        assert await asked.problem() == HELD
    assert await asked.problem() == ""

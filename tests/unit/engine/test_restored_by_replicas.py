"""Several replicas that start over a restored database: each sees to it that no open question of it can be answered."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest
from a2a.server.agent_execution import RequestContext
from a2a.server.events import EventQueue

from tests.postgres import PostgresServer
from tests.unit.engine.replicas import Replica, replica_at
from tests.unit.engine.turns import Executor, status_of, task_of, turn
from utils.a2a_common.engine.recovery import Recovery
from utils.a2a_common.engine.turn_runner import TurnRunner
from utils.a2a_common.tasks.writer import TaskWriter
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.postgres.restored import PLACE, halt_restored_turns

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300), pytest.mark.xdist_group("postgres")]

TIMES = 2

OF_ANOTHER_SERVER = "UPDATE secrets SET value = regexp_replace(convert_from(value, 'UTF8'), '/[0-9]+', '/1')::bytea WHERE name = %s"


async def asks(context: RequestContext, queue: EventQueue) -> None:
    await queue.enqueue_event(task_of(context))
    await queue.enqueue_event(status_of(context, "input_required", "Shall I?"))


async def marked(replica: Replica, *tasks: str) -> None:
    """Open questions of a restored backup, which the first process that starts has marked."""
    await halt_restored_turns(replica.pool)
    await replica.submit(*map(turn, tasks))
    assert await replica.rest(*tasks) == ["input_required"] * len(tasks)
    assert await replica.pool.execute(OF_ANOTHER_SERVER, (PLACE,)) == 1
    await halt_restored_turns(replica.pool)


async def test_a_question_is_ended_though_another_replica_takes_it_over_and_stands_still(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = postgres.settings(await postgres.migrated())
    async with (
        replica_at(settings, Executor(asks)) as replica,
        replica_at(settings, Executor(asks)) as stands_still,
    ):
        await marked(replica, "a")
        claim, taken_over = replica.log.claim, list[TaskWriter]()

        async def claimed(task_id: str, owner: str) -> TaskWriter:
            writer = await claim(task_id, owner)
            if len(taken_over) < TIMES:
                assert await replica.runs.row(task_id), "A replica that starts now would not find it."
                taken_over.append(await stands_still.log.claim(task_id, owner))
            return writer

        monkeypatch.setattr(replica.log, "claim", claimed)
        runner = TurnRunner(replica.executor, replica.log)
        await Recovery(replica.log, replica.runs, runner, replica.executor.forgotten.append).end_restored()
        assert await replica.state("a") == "failed"
        assert await replica.runs.row("a") is None
        for writer in taken_over:
            writer.release()


async def test_replicas_that_start_at_once_end_each_question_once(postgres: PostgresServer) -> None:
    url = await postgres.migrated()
    settings, tasks = postgres.settings(url), [f"t{number}" for number in range(6)]
    async with replica_at(settings, Executor(asks)) as replica:
        await marked(replica, *tasks)
    stacks = [AsyncExitStack() for _ in range(3)]
    async with stacks[0], stacks[1], stacks[2]:
        replicas = await asyncio.gather(
            *(stack.enter_async_context(replica_at(settings, Executor(asks))) for stack in stacks)
        )
        assert [await each.state(task) for each in replicas for task in tasks] == ["failed"] * 18
        pool: PostgresPool = replicas[0].pool
        assert await pool.one("SELECT count(*) FROM task_events") == (3 * len(tasks),)
        assert await pool.one("SELECT count(*) FROM runs") == (0,)

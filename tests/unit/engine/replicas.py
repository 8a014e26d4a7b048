"""Replicas of an agent in this process: each has a log, an engine and connections of its own, on one database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from a2a.types.a2a_pb2 import TaskState

from tests.postgres import AGENT
from tests.unit.engine.turns import CALL, OWNER, Executor
from utils.a2a_common.engine.caller_quota import CallerQuota
from utils.a2a_common.engine.distributed import DistributedEngine
from utils.a2a_common.engine.postgres_queue_tables import PostgresQueueTables
from utils.a2a_common.engine.procrastinate_queue import ProcrastinateQueue
from utils.a2a_common.engine.turn_runner import TurnRunner
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.turn import Turn
from utils.encryption.codec import PLAIN, Codec
from utils.persistence.encrypted.shared_keys import SharedKeys
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.settings import DatabaseSettings
from utils.persistence.stores import stores_in


class Replica:
    """One process, as far as it shares nothing but the database with the others."""

    def __init__(
        self,
        pool: PostgresPool,
        executor: Executor,
        *,
        max_turns: int = 10,
        max_waiting: int = 10,
        caller_turns: int = 0,
        caller_size: int = 0,
        fair: bool = False,
        takeover: float = 10,
        codec: Codec = PLAIN,
    ) -> None:
        self.pool = pool
        self.executor = executor
        shared = SharedKeys(codec, pool)
        stores = stores_in(Path(), pool, codec, shared)
        self.log = TaskLog(stores.task_log())
        self.runs = stores.runs()
        self.queue = ProcrastinateQueue(
            PostgresQueueTables(pool), at_once=max_turns, takeover_seconds=takeover, grace=1, fit=shared.fit
        )
        runner = TurnRunner(executor, self.log)
        self.engine = DistributedEngine(
            self.log,
            self.runs,
            runner,
            self.queue,
            max_turns=max_turns,
            max_waiting=max_waiting,
            caller_quota=CallerQuota(caller_turns, caller_size),
            fair=fair,
        )

    async def submit(self, *turns: Turn) -> None:
        for each in turns:
            await self.engine.submit(each, CALL)

    async def state(self, task_id: str) -> str:
        head = await self.log.head(task_id, OWNER)
        if head is None:
            return ""
        return TaskState.Name(head.status.state).removeprefix("TASK_STATE_").lower()

    async def rest(self, *task_ids: str) -> list[str]:
        """The states of tasks once no replica works on them."""
        async with asyncio.timeout(60):
            while set(task_ids) & await self.queue.all_tasks():
                await asyncio.sleep(0.02)
        return [await self.state(task_id) for task_id in task_ids]


@asynccontextmanager
async def replica_at(
    settings: DatabaseSettings, executor: Executor, *, agent: str = AGENT, **options: Any
) -> AsyncIterator[Replica]:
    """A replica that takes turns; drained with the block."""
    pool = PostgresPool(settings, agent=agent)
    async with AsyncExitStack() as stack:
        await pool.open()
        stack.push_async_callback(pool.close)
        made = Replica(pool, executor, **options)
        await made.log.open()
        stack.push_async_callback(made.log.close)
        made.log.other_replicas.has_turn = made.engine.has_turn
        stack.push_async_callback(made.engine.drain, 0)
        await made.engine.start()
        yield made

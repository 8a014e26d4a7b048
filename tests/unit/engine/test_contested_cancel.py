"""A cancel that always loses its task to another replica says so, and takes nothing away from the turn that goes on."""

from __future__ import annotations

import pytest
from a2a.utils.errors import TaskNotCancelableError

from tests.contract.queue.kinds import memory_tables
from tests.unit.engine.turns import CALL, OWNER, Executor, turn
from utils.a2a_common.engine.distributed import MAX_CANCEL_TRIES, DistributedEngine
from utils.a2a_common.engine.procrastinate_queue import ProcrastinateQueue
from utils.a2a_common.engine.turn_runner import TurnRunner
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.statuses import submitted
from utils.a2a_common.tasks.turn import encode_turn
from utils.persistence.runs import MemoryRuns, RunRow
from utils.persistence.task_log_memory import MemoryTaskLogStore
from utils.persistence.task_log_store import Stored


class ContestedStore(MemoryTaskLogStore):
    """A storage in which another replica claims each task right after this one did, from the second claim on.

    Attributes:
        claims: Claims of this replica.
    """

    claims = 0

    async def claim(self, task_id: str, owner: str) -> Stored:
        self.claims += 1
        claimed = await super().claim(task_id, owner)
        if self.claims > 1:
            await super().claim(task_id, owner)
        return claimed


async def test_a_cancel_that_never_gets_hold_of_its_task_is_refused_and_leaves_the_turn() -> None:
    async with memory_tables() as tables:
        store, runs = ContestedStore(), MemoryRuns()
        log, executor = TaskLog(store), Executor(resumable=True)
        await log.open()
        waiting = turn("a")
        writer = await log.claim("a", OWNER)
        await writer.append(submitted(waiting))
        writer.hand_over()
        await runs.put(RunRow("a", waiting.conversation, OWNER, encode_turn(waiting), writer.attempt))
        queue = ProcrastinateQueue(tables(), at_once=2, takeover_seconds=10)
        engine = DistributedEngine(log, runs, TurnRunner(executor, log), queue, max_turns=2, max_waiting=2)
        await engine.start()
        try:
            with pytest.raises(TaskNotCancelableError):
                await engine.cancel("a", OWNER, CALL)
            assert store.claims == 1 + MAX_CANCEL_TRIES
            assert [row.task_id for row in await runs.rows()] == ["a"]
            assert executor.forgotten == []
        finally:
            await engine.drain(0)
            await log.close()

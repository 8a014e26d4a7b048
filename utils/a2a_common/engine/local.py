"""`LocalEngine`: runs turns in this process, and stores them so that the next process can resume them."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import AsyncIterator, Callable

from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import Task

from utils.a2a_common.engine.caller_quota import NO_LIMIT, CallerQuota
from utils.a2a_common.engine.job import Job, asks_same_question
from utils.a2a_common.engine.local_queue import LocalQueue
from utils.a2a_common.engine.recovery import Recovery
from utils.a2a_common.engine.stage import Stage, Transition
from utils.a2a_common.engine.turn_engine import MIN_STOP_SECONDS, TurnEngine
from utils.a2a_common.engine.turn_runner import TurnRunner
from utils.a2a_common.engine.unfinished_turns import RESTART_SECONDS
from utils.a2a_common.tasks.entries import Fenced
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.turn import Turn
from utils.errors import Draining, Overloaded, TaskBusy, TooManyRequests
from utils.observability import catalogue
from utils.observability.metrics import count
from utils.persistence.runs import RunStore, UnderWay

Hold = Callable[[str], contextlib.AbstractAsyncContextManager[bool]]
"""Keeps others from a conversation within the block; `False` where somebody else works on it."""


@contextlib.asynccontextmanager
async def nobody_else(_conversation: str) -> AsyncIterator[bool]:
    """The hold on data that no other process works on."""
    yield True


class LocalEngine(TurnEngine):
    """The engine of one process. Its only clock is that of the event loop, and it starts no thread.

    Args:
        tasks: The task log.
        runs: Stores the accepted turns.
        runner: Runs one turn.
        max_turns: Maximum number of turns that run at the same time.
        max_waiting: Maximum number of waiting turns.
        caller_quota: Limits of one caller's unfinished turns.
        fair: Whether the places are shared among the callers.
        hold: Keeps commands that work on the stored data from a conversation whose turns are held.
    """

    def __init__(
        self,
        tasks: TaskLog,
        runs: RunStore,
        runner: TurnRunner,
        *,
        max_turns: int,
        max_waiting: int,
        caller_quota: CallerQuota = NO_LIMIT,
        fair: bool = False,
        hold: Hold = nobody_else,
    ) -> None:
        super().__init__(tasks, runs, runner, max_turns=max_turns, caller_quota=caller_quota, fair=fair)
        self._queue = LocalQueue(max_turns, max_waiting, fair=fair)
        self._max_turns = max_turns
        self._hold = hold

    async def has_turn(self, task_id: str, owner: str) -> bool:
        """Whether a turn of the owner's task runs, waits or is being canceled."""
        del owner  # task ids are unique
        return self.under_way(task_id)

    async def _asks_same_question(self, asked: Task, owner: str) -> bool:
        """Whether a task waits for the answer to the same question; no turn of it begins while it is being canceled."""
        return asked.id not in self._jobs and asks_same_question(
            asked, await self._tasks.head(asked.id, owner)
        )

    @contextlib.asynccontextmanager
    async def hold_turns(self, conversation: str) -> AsyncIterator[bool]:
        """Keep turns of a conversation from beginning within the block; `False` if one is under way."""
        if not self._queue.hold(conversation):
            yield False
            return
        try:
            async with self._hold(conversation) as free:
                yield free
        finally:
            self._queue.release(conversation)
            self._begin_next()

    async def start(self) -> None:
        """Resume the turns that an earlier process left unfinished; fail those that cannot be resumed.

        Raises:
            StorageError: The stored turns cannot be read.
        """
        for row, turn in await Recovery(self._tasks, self._runs, self._runner, self._abandon).turns():
            job = Job(turn, None, contextvars.copy_context(), resumed=True, attempts=row.attempts)
            writer = await self._claim(job)
            try:
                await writer.add_message(turn.request.message)
            except Fenced:  # another process has claimed it meanwhile
                writer.release()
                continue
            job.advance(Transition.STORE)
            self._join(job)
        self._begin_next()

    async def submit(self, turn: Turn, call: ServerCallContext) -> None:
        """Accept a turn: when this returns, it is stored, it will run, and its log can be read.

        It joins the queue at once and is stored meanwhile. It runs when it is stored and the queue lets it begin.

        Raises:
            Overloaded: Too many turns wait.
            TooManyRequests: Too many turns of the caller run or wait.
            Draining: The process is about to stop.
            TaskBusy: Another turn of the task is under way.
            UnsupportedOperationError: The task has ended.
            StorageError: The turn cannot be stored.
        """
        await self._settle(turn.task_id)
        if self._draining:
            raise Draining(RESTART_SECONDS)
        if self.under_way(turn.task_id):
            raise TaskBusy
        if not self._caller_quota.allow(self._usage_of(turn.owner), turn.size, self._max_turns):
            raise TooManyRequests(self._wait_estimate.retry_after(self._queue.waiting))
        if not self._queue.has_room(turn.conversation):
            raise Overloaded(self._wait_estimate.retry_after(self._queue.waiting))
        job = Job(turn, call, contextvars.copy_context())
        self._join(job)
        self._begin_next()
        await asyncio.shield(self._spawn(self._unless_fenced(turn, self._accept(job))))

    async def drain(self, grace: float) -> None:
        """Accept no new turns, let the running ones finish within `grace` seconds, and keep the rest for the next process.

        A turn that cannot be resumed fails with code `interrupted`.
        """
        self._draining = True
        await self._suspend_all([job for job in self._jobs.values() if job.work is None])
        running = [job.work for job in self._jobs.values() if job.work is not None]
        if running:
            await asyncio.wait(running, timeout=grace)
        await self._suspend_all(list(self._jobs.values()))
        await self._finish_background(max(MIN_STOP_SECONDS, grace))
        await self._removal.close()

    def _usage_of(self, owner: str) -> UnderWay:
        """The unfinished turns of a caller."""
        sizes = [job.turn.size for job in self._jobs.values() if job.turn.owner == owner]
        return UnderWay(len(sizes), sum(sizes))

    def _join(self, job: Job) -> None:
        self._jobs[job.turn.task_id] = job
        self._queue.join(job.turn.task_id, job.turn.conversation)
        count(catalogue.WAITING, 1)

    async def _accept(self, job: Job) -> None:
        """Store a turn that is in the queue. Continues if the caller is canceled meanwhile."""
        try:
            writer = await self._store(job)
            if writer is None:
                self._release_ended(job)
                return
            if self._queue.is_waiting(job.turn.task_id) or self._runner.may_stay_silent(job.turn):
                await self._runner.accept(job.turn, writer)
        except BaseException as error:
            refused = (
                isinstance(error, Exception) and not job.continues_elsewhere
            )  # the next start must not run it
            self._release(job)
            if refused:
                await self._remove(job)
            elif job.fenced:
                await self._remove_late(job)
            raise
        finally:
            job.advance(Transition.CLOSE if job.over else Transition.STORE)
        self._begin(job)

    def _release_ended(self, job: Job) -> None:
        """Remove a turn that has ended in another process: its task has the answer, and its row belongs to that process."""
        assert job.writer is not None
        job.writer.release()
        job.writer = None
        self._release(job)

    def _begin_next(self) -> None:
        for task_id in () if self._draining else self._queue.begin_next():
            count(catalogue.WAITING, -1)
            self._begin(self._jobs[task_id])

    def _begin(self, job: Job) -> None:
        """Run a turn if it is stored and the queue lets it begin."""
        if job.stage is Stage.STORED and not self._queue.is_waiting(job.turn.task_id):
            job.begin(self._spawn(self._run(job), context=job.context))

    def _release(self, job: Job) -> None:
        """Remove all but the row of a turn from this process, and begin the next turns."""
        del self._jobs[job.turn.task_id]
        if self._queue.is_waiting(job.turn.task_id):
            count(catalogue.WAITING, -1)
        self._queue.remove(job.turn.task_id)
        if job.writer is not None:
            job.writer.release()
        job.advance(Transition.END)
        self._begin_next()

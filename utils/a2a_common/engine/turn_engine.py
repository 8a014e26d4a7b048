"""`TurnEngine`: what both engines do with a turn: claim its task, run it, cancel it, suspend it, and remove its row."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import structlog
from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import Task
from a2a.utils.errors import A2AError, TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError

from utils.a2a_common.engine.caller_quota import CallerQuota
from utils.a2a_common.engine.job import Job, check_not_ended, check_question_open, has_received, is_over
from utils.a2a_common.engine.removal import RunRemoval
from utils.a2a_common.engine.stage import Stage, Transition
from utils.a2a_common.engine.turn_runner import TurnRunner
from utils.a2a_common.engine.unfinished_turns import (
    RESTART_SECONDS,
    begin_task,
    cancel_unbegun,
    interrupt,
    suspend,
)
from utils.a2a_common.engine.wait_estimate import WaitEstimate
from utils.a2a_common.tasks.entries import Fenced
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.states import TERMINAL
from utils.a2a_common.tasks.statuses import copy_of
from utils.a2a_common.tasks.turn import Turn, encode_turn
from utils.a2a_common.tasks.writer import TaskWriter
from utils.errors import Draining, PlatformError, StorageError, TaskBusy
from utils.persistence.runs import RunRow, RunStore

log = structlog.get_logger(__name__)

Result = TypeVar("Result")

MIN_STOP_SECONDS = 1.0
"""Minimum seconds that stopped work has to end, even with a shorter grace."""

SETTLING_SECONDS = 5.0
"""Longest wait for the run of a settled turn to return, before a message that follows it is refused."""


class TurnEngine(ABC):
    """Decides when and where a turn runs. Its progress is in the task log.

    This class handles the turns of this process; subclasses decide where they come from.

    Args:
        tasks: The task log.
        runs: Stores the accepted turns.
        runner: Runs one turn.
        max_turns: Maximum number of turns that run at the same time.
        caller_quota: Limits of one caller's unfinished turns.
        fair: Whether the places are shared among the callers.

    Attributes:
        suspended: Tasks whose turns were still under way when the grace of a drain was over.
    """

    def __init__(
        self,
        tasks: TaskLog,
        runs: RunStore,
        runner: TurnRunner,
        *,
        max_turns: int,
        caller_quota: CallerQuota,
        fair: bool,
    ) -> None:
        self._tasks = tasks
        self._runs = runs
        self._runner = runner
        self._removal = RunRemoval(runs)
        self._wait_estimate = WaitEstimate(max_turns)
        self._caller_quota = caller_quota
        self._fair = fair
        self._jobs: dict[str, Job] = {}
        self._cancels: dict[str, asyncio.Task[bool]] = {}
        self._background: set[asyncio.Task[Any]] = set()
        self._draining = False
        self.suspended: set[str] = set()

    @abstractmethod
    async def start(self) -> None:
        """Resume the turns that an earlier process left unfinished.

        Raises:
            StorageError: The stored turns cannot be read.
        """

    @abstractmethod
    async def submit(self, turn: Turn, call: ServerCallContext) -> None:
        """Accept a turn: when this returns, it is stored, it will run, and its log can be read.

        Args:
            turn: The turn.
            call: The call that submitted it. It is not stored; a resumed turn runs without it.

        Raises:
            Overloaded: Too many turns wait.
            TooManyRequests: Too many turns of the caller run or wait.
            Draining: The process is about to stop.
            TaskBusy: Another turn of the task is under way.
            UnsupportedOperationError: The task has ended.
            StorageError: The turn cannot be stored.
        """

    @abstractmethod
    async def drain(self, grace: float) -> None:
        """Accept no new turns, let the running ones finish within `grace` seconds, and keep the rest for the next process.

        A turn that cannot be resumed fails with code `interrupted`.
        """

    @abstractmethod
    async def has_turn(self, task_id: str, owner: str) -> bool:
        """Whether a turn of the owner's task runs, waits or is being canceled, here or in another process.

        Raises:
            StorageError: The storage cannot be read.
        """

    @abstractmethod
    def hold_turns(self, conversation: str) -> AbstractAsyncContextManager[bool]:
        """Keep turns of a conversation from beginning within the block, in any process; `False` if one is under way.

        Raises:
            StorageError: The storage cannot be read.
        """

    @abstractmethod
    def _release(self, job: Job) -> None:
        """Remove all but the row of a turn from this process."""

    def under_way(self, task_id: str) -> bool:
        """Whether a turn of the task runs, waits or is being canceled in this process."""
        return task_id in self._jobs or task_id in self._cancels

    @abstractmethod
    async def _asks_same_question(self, asked: Task, owner: str) -> bool:
        """Whether a task that is being canceled here still waits for the answer to the same question."""

    async def cancel(
        self, task_id: str, owner: str, call: ServerCallContext, *, asked: Task | None = None
    ) -> None:
        """Cancel a task: when this returns, its run has stopped and the task is in a terminal state.

        Args:
            task_id: The task.
            owner: Key of its owner.
            call: The call that requests it.
            asked: The task as the caller saw it: the task is canceled only while it waits with the same question.

        Raises:
            TaskNotFoundError: The owner has no such task.
            TaskNotCancelableError: It has ended, it no longer waits with the same question, or other replicas keep it.
            Draining: The process stops before that is stored; the next process continues the turn.
            StorageError: The task cannot be read.
        """
        job = self._jobs.get(task_id)
        if job is not None and job.turn.owner != owner:
            raise TaskNotFoundError
        head = await self._tasks.head(task_id, owner)
        if job is None and head is None:
            raise TaskNotFoundError
        if head is not None and head.status.state in TERMINAL:
            raise TaskNotCancelableError
        while True:
            cancel = self._cancels.get(task_id)
            if cancel is None:
                cancel = self._cancels[task_id] = self._spawn(self._canceling(task_id, owner, call, asked))
            if await asyncio.shield(cancel):
                break
            if asked is not None:
                raise TaskNotCancelableError
        if self._draining and not await self._has_ended(task_id, owner):
            raise Draining(RESTART_SECONDS)

    async def _canceling(self, task_id: str, owner: str, call: ServerCallContext, asked: Task | None) -> bool:
        """Cancel a task; `False` if it continues because it has changed since the caller looked at it."""
        try:
            if asked is not None and not await self._asks_same_question(asked, owner):
                return False
            await self._cancel(task_id, owner, call)
            return True
        finally:
            del self._cancels[task_id]

    async def _cancel(self, task_id: str, owner: str, call: ServerCallContext) -> None:
        """Cancel a task that runs or waits in this process, or that waits for its user."""
        job = self._jobs.get(task_id)
        if job is None or not await self._stop(job, call):
            await self._cancel_without_run(task_id, owner, call)

    async def _has_ended(self, task_id: str, owner: str) -> bool:
        """Whether the end of a task is stored, so that the next process does not resume its turn."""
        known = await self._tasks.snapshot(task_id, owner)
        if known is None or known.task.status.state not in TERMINAL:
            return False
        return await self._tasks.is_stored(task_id, owner, known.sequence)

    async def _settle(self, task_id: str) -> None:
        """Wait until the run of a settled turn has returned: readers see the end before that."""
        job = self._jobs.get(task_id)
        if job is not None and job.settled:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SETTLING_SECONDS):
                    await job.ended.wait()

    async def _finish_background(self, seconds: float) -> None:
        """Wait at most `seconds` for background work, such as cancellations at other agents."""
        clock = asyncio.get_running_loop().time
        until = clock() + seconds
        while self._background and clock() < until:
            await asyncio.wait(self._background, timeout=until - clock())
        if self._background:
            log.warning("drain.unfinished", left=len(self._background), seconds=seconds)

    async def _suspend_all(self, jobs: Sequence[Job]) -> None:
        self.suspended |= {job.turn.task_id for job in jobs}
        await asyncio.gather(*map(self._suspend, jobs))

    async def _suspend(self, job: Job) -> None:
        """Keep a turn for the next process, or fail it."""
        job.advance(Transition.STOP)
        await job.accepted.wait()
        if job.over:
            return
        assert job.writer is not None
        if self._runner.resumable:
            suspend(job.writer)
        else:
            await interrupt(job.writer, job.turn.task_id, job.turn)
            if job.work is None and job.task is not None:
                self._abandon(job.turn.task_id)
        await self._stop_run(job)

    async def _unless_fenced(self, turn: Turn, accepting: Coroutine[Any, Any, None]) -> None:
        """Accept a turn. If another process claims its task meanwhile, that succeeds only if the message has joined the task.

        Raises:
            TaskBusy: It has not, and the task is about to be canceled.
            UnsupportedOperationError: It has not, and the task has ended.
        """
        try:
            await accepting
        except Fenced:
            head = await self._tasks.head(turn.task_id, turn.owner)
            if not has_received(turn, head):
                check_not_ended(head)
                raise TaskBusy from None

    async def _store(self, job: Job) -> TaskWriter | None:
        """Store a turn and add its message to its task; `None` if the turn has ended in another process."""
        turn = job.turn
        writer = await self._claim(job)
        if has_received(turn, job.task):  # another process accepted it after it was admitted here
            if is_over(turn, job.task):
                return None
            job.resumed = True  # this process continues it: the claim has fenced off the other one
        check_not_ended(writer.head)
        if not job.resumed:
            check_question_open(turn, writer.head)
        row = RunRow(turn.task_id, turn.conversation, turn.owner, encode_turn(turn), writer.attempt)
        await self._runs.put(row)
        await writer.add_message(turn.request.message)
        return writer

    async def _claim(self, job: Job) -> TaskWriter:
        job.writer = writer = await self._tasks.claim(job.turn.task_id, job.turn.owner)
        job.task = copy_of(writer.head)
        return writer

    async def _run(self, job: Job) -> None:
        assert job.writer is not None
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            if job.resumed:
                log.info("turn.resumed", task_id=job.turn.task_id)
                await self._count_attempts(job, job.attempts + 1)
            await self._runner.run(job.turn, job.writer, task=job.task, call=job.call, resumed=job.resumed)
        except (asyncio.CancelledError, GeneratorExit):
            self._draining |= job.stage is Stage.RUNNING  # the event loop is torn down: no other turn begins
            raise
        finally:
            self._wait_estimate.note(loop.time() - began)
            self._release(job)
        await self._close(job)

    async def _close(self, job: Job, *, in_order: bool = False) -> None:
        """Remove the row of a turn that is over, unless another process continues it. Safe to call twice.

        Args:
            job: The turn.
            in_order: Whether this process stopped the run, so that the turn is not suspected of crashing it.
        """
        if job.stage is Stage.CLOSED:
            return
        if not job.continues_elsewhere:
            removed = await self._remove(job)
            if not job.awaits_user and (removed or not job.storage_failed):
                await self._runner.forget(job.turn.task_id)
        elif job.fenced:
            await self._remove_late(job)
        elif job.attempts and in_order:
            await self._count_attempts(job, 0)
        job.advance(Transition.CLOSE)

    async def _remove_late(self, job: Job) -> None:
        """Remove the row of a turn that another process has ended: this process may have stored it after that."""
        with contextlib.suppress(StorageError, UnsupportedOperationError):  # the next start removes it
            if is_over(job.turn, await self._tasks.head(job.turn.task_id, job.turn.owner)):
                await self._remove(job)

    async def _remove(self, job: Job) -> bool:
        assert job.writer is not None
        return await self._removal.remove(job.turn.task_id, job.writer.attempt)

    async def _count_attempts(self, job: Job, attempts: int) -> None:
        """Store how often a turn was taken over. If that fails, the turn runs all the same and may be taken over once more."""
        assert job.writer is not None
        try:
            await self._runs.take(job.turn.task_id, writer=job.writer.attempt, attempts=attempts)
        except StorageError:
            log.warning("run.not_counted", task_id=job.turn.task_id)

    async def _stop(self, job: Job, call: ServerCallContext) -> bool:
        """Cancel a turn that waits or runs; `False` if the task did not end, because it had asked its user meanwhile."""
        job.advance(Transition.STOP)
        await job.accepted.wait()
        if job.over:
            return False
        if job.settled and not job.awaits_authentication:
            if job.work is None:  # its task ended as it was claimed: no run will return
                await self._stop_run(job)
            await job.ended.wait()
            return False
        assert job.writer is not None
        turn = job.turn
        if job.work is None and job.task is None:
            await cancel_unbegun(job.writer, turn)
        elif await begin_task(job.writer, turn) is not None:
            await self._runner.cancel(turn.task_id, turn.context_id, job.writer, call)
        await self._stop_run(job)
        head = job.writer.head
        return head is not None and head.status.state in TERMINAL

    async def _stop_run(self, job: Job) -> None:
        """Stop the run of a turn whose end is written, or remove the turn from the queue."""
        if job.work is None:
            if not job.over:  # else it was canceled and suspended at the same time
                self._release(job)
                await self._close(job)
            return
        first = not job.work.cancelling()  # else the event loop ends, which the turn may have caused
        job.work.cancel()
        await asyncio.wait([job.work])
        if not job.over:  # it had not begun
            self._release(job)
        await self._close(job, in_order=first)

    async def _cancel_without_run(self, task_id: str, owner: str, call: ServerCallContext) -> None:
        """Cancel a task that waits for its user."""
        head = await self._tasks.head(task_id, owner)
        if head is None:
            raise TaskNotFoundError
        if head.status.state in TERMINAL:
            raise TaskNotCancelableError
        writer = await self._tasks.claim(task_id, owner)
        try:
            await self._runner.cancel(task_id, head.context_id, writer, call)
        finally:
            writer.release()

    def _abandon(self, task_id: str) -> None:
        self._spawn(self._runner.abandon(task_id))

    def _spawn(
        self, work: Coroutine[Any, Any, Result], context: contextvars.Context | None = None
    ) -> asyncio.Task[Result]:
        """Start background work, which continues if its caller is canceled."""
        task = asyncio.get_running_loop().create_task(work, context=context)
        self._background.add(task)
        task.add_done_callback(self._note_end)
        return task

    def _note_end(self, task: asyncio.Task[Any]) -> None:
        self._background.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, PlatformError | A2AError):
            log.error("engine.crashed", exc_info=error)

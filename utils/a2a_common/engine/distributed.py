"""`DistributedEngine`: runs turns on all replicas of an agent, from one queue in PostgreSQL. Each takes over the turns of dead ones."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from contextlib import AbstractAsyncContextManager, AsyncExitStack

import structlog
from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import Task, TaskState
from a2a.utils.errors import TaskNotCancelableError

from utils.a2a_common.engine.caller_quota import NO_LIMIT, CallerQuota
from utils.a2a_common.engine.job import (
    Job,
    asks_same_question,
    awaits_answer,
    has_received,
    is_new,
    is_over,
    is_suspended,
)
from utils.a2a_common.engine.recovery import Recovery, decode_row
from utils.a2a_common.engine.stage import Stage, Transition
from utils.a2a_common.engine.sweeper import Sweeper
from utils.a2a_common.engine.turn_engine import MIN_STOP_SECONDS, SETTLING_SECONDS, TurnEngine
from utils.a2a_common.engine.turn_queue import QueuedTurn, Requeued, TurnQueue
from utils.a2a_common.engine.turn_runner import TurnRunner
from utils.a2a_common.engine.unfinished_turns import RESTART_SECONDS
from utils.a2a_common.tasks.entries import Fenced
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.states import TERMINAL
from utils.a2a_common.tasks.statuses import canceled_status
from utils.a2a_common.tasks.turn import Turn, stored_call
from utils.cancellation import to_its_end
from utils.encryption.errors import StorageUnreadable
from utils.errors import Draining, Overloaded, StorageError, TaskBusy, TooManyRequests
from utils.persistence.runs import RunStore, conversation_key
from utils.timing import wait_for

log = structlog.get_logger(__name__)

MAX_ACCEPTING = 3
"""Turns that one replica accepts at the same time: each holds a connection, and storing it needs others."""

RETRY_SECONDS = 1.0
"""Pause before a turn that could not be read from the storage is requeued."""

MAX_CANCEL_TRIES = 5
"""Tries to cancel a task while other replicas begin its next turns."""

CONTESTED = "Other turns of the task began before it could be canceled. Try again."

MAX_POLL_SECONDS = 0.5
"""Longest pause between two queries of the queue: not every change of it is notified."""

MIN_POLL_SECONDS = 0.02
"""Shortest pause between two queries of the queue, however many changes are notified."""


class DistributedEngine(TurnEngine):
    """The engine of one replica.

    Args:
        tasks: The task log, which all replicas share.
        runs: Stores the accepted turns of all replicas.
        runner: Runs one turn.
        queue: The queue of all replicas.
        max_turns: Maximum number of turns that this replica runs at the same time.
        max_waiting: Maximum number of waiting turns, over all replicas.
        caller_quota: Limits of one caller's unfinished turns, over all replicas.
        fair: Whether the places of all replicas are shared among the callers.
    """

    def __init__(
        self,
        tasks: TaskLog,
        runs: RunStore,
        runner: TurnRunner,
        queue: TurnQueue,
        *,
        max_turns: int,
        max_waiting: int,
        caller_quota: CallerQuota = NO_LIMIT,
        fair: bool = False,
    ) -> None:
        super().__init__(tasks, runs, runner, max_turns=max_turns, caller_quota=caller_quota, fair=fair)
        self._queue = queue
        self._max_waiting = max_waiting
        self._accepting = asyncio.Semaphore(MAX_ACCEPTING)
        self._accept_tasks: set[asyncio.Task[None]] = set()
        self._recovery = Recovery(tasks, runs, runner, self._abandon)
        self._sweeper = Sweeper(queue, tasks, runs, self._recovery)

    async def start(self) -> None:
        """Begin to take turns from the queue.

        Raises:
            StorageError: The database cannot be reached.
        """
        await self._recovery.end_restored()
        await self._queue.open(self._work, fair=self._fair)
        self._sweeper.start()

    async def has_turn(self, task_id: str, owner: str) -> bool:
        """Whether a turn of the owner's task runs, waits or is being canceled, on any replica.

        Waits for a run that has asked its user and has not returned yet; if its process died before that, until the sweeper
        has found it.

        Raises:
            StorageError: The storage cannot be read.
        """
        if task_id in self._cancels:
            return True
        loop = asyncio.get_running_loop()
        until = loop.time() + self._queue.stalled_seconds + SETTLING_SECONDS
        while True:
            change = self._queue.next_change()
            if await self._queue.find(task_id) is None:
                return await self._is_stray(task_id, owner)
            head = await self._tasks.head(task_id, owner)
            if head is not None and head.status.state in TERMINAL:
                return False
            if not awaits_answer(head) or loop.time() > until:
                return True
            await _wait_for_change(change)

    async def _is_stray(self, task_id: str, owner: str) -> bool:
        """Whether an accepted turn of the task is not in the queue, or not yet: the sweeper restores it."""
        row = await self._runs.row(task_id)
        turn = decode_row(row) if row is not None and row.owner == owner else None
        return turn is not None and not is_over(turn, await self._tasks.head(task_id, owner))

    async def _asks_same_question(self, asked: Task, owner: str) -> bool:
        """Whether a task waits for the answer to the same question and no replica is accepting one."""
        conversation = conversation_key(owner, asked.context_id)
        async with self._accepting, self._queue.slot(asked.id, conversation) as slot:
            return not slot.task_busy and asks_same_question(asked, await self._tasks.head(asked.id, owner))

    def hold_turns(self, conversation: str) -> AbstractAsyncContextManager[bool]:
        """Keep turns of a conversation from beginning within the block, on any replica; `False` if one is under way."""
        return self._queue.hold_turns(conversation)

    async def submit(self, turn: Turn, call: ServerCallContext) -> None:
        """Accept a turn, which one of the replicas will run; see the base class."""
        del call  # another replica may run the turn
        if self._draining:
            raise Draining(RESTART_SECONDS)
        if await self.has_turn(turn.task_id, turn.owner):
            await self._check_same_message(turn)
            return
        accepting = self._spawn(self._unless_fenced(turn, self._accept(turn)))
        self._accept_tasks.add(accepting)
        accepting.add_done_callback(self._accept_tasks.discard)
        await asyncio.shield(accepting)

    async def _check_same_message(self, turn: Turn) -> None:
        """Check that the task is busy with the same message, which another replica has accepted.

        Raises:
            TaskBusy: It is busy with another one.
        """
        if not has_received(turn, await self._tasks.head(turn.task_id, turn.owner)):
            raise TaskBusy

    async def _accept(self, turn: Turn) -> None:
        """Store a turn and add it to the queue. Continues if the caller is canceled meanwhile.

        Once stored it is accepted: if the database fails before it is in the queue, the sweeper adds it.
        """
        job = Job(turn, None, contextvars.copy_context())
        try:
            await self._enqueue(job)
        except StorageError:
            if job.stage is not Stage.STORED:
                raise
            log.warning("turn.not_queued", task_id=turn.task_id)

    async def _enqueue(self, job: Job) -> None:
        turn = job.turn
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._accepting)
            if self._draining:
                raise Draining(RESTART_SECONDS)
            slot = await stack.enter_async_context(self._queue.slot(turn.task_id, turn.conversation))
            if slot.task_busy:
                await self._check_same_message(turn)
                return
            if self._caller_quota.bounded:  # no replica can add a turn meanwhile
                has = await self._runs.under_way(turn.owner)
                if not self._caller_quota.allow(has, turn.size, slot.load.places):
                    raise TooManyRequests(self._wait_estimate.retry_after(slot.load.waiting))
            if not slot.load.has_room(self._max_waiting):
                raise Overloaded(self._wait_estimate.retry_after(slot.load.waiting))
            try:
                if await self._store_and_publish(job):
                    job.advance(Transition.STORE)
                    await slot.take(job.resumed)
            finally:
                if job.writer is not None:
                    job.writer.hand_over()

    async def _store_and_publish(self, job: Job) -> bool:
        """Store a turn and publish its task, or neither; `False` if it has ended in another process."""
        try:
            writer = await self._store(job)
            if writer is not None:
                await self._runner.accept(job.turn, writer)
        except Exception:
            if not job.continues_elsewhere:
                await self._remove(job)
            elif job.fenced:
                await self._remove_late(job)
            raise
        return writer is not None

    async def _work(self, queued: QueuedTurn) -> None:
        """Run a turn of the queue to its end.

        Raises:
            Requeued: It continues in another process, or later.
        """
        opening = asyncio.create_task(self._open(queued))
        try:
            await asyncio.wait([opening])
            if isinstance(opening.exception(), StorageError):
                log.warning("turn.not_opened", task_id=queued.task_id)
                await asyncio.sleep(RETRY_SECONDS)
                raise Requeued from opening.exception()
            job = opening.result()
            if job is not None:
                await self._run_opened(job)
        except asyncio.CancelledError:  # the task is canceled, or the worker ends
            await to_its_end(self._end_early(opening, canceled=queued.canceled()))
            raise
        if is_suspended(job):
            raise Requeued

    async def _open(self, queued: QueuedTurn) -> Job | None:
        """Claim the task of a queued turn; `None` if there is nothing to run."""
        row = await self._runs.row(queued.task_id)
        if row is None:
            return None
        turn = await self._recovery.turn_of(row) if queued.goes_on or row.attempts else decode_row(row)
        if turn is None:
            return None
        job = Job(turn, None, contextvars.copy_context(), resumed=queued.goes_on, attempts=row.attempts)
        try:
            writer = await self._claim(job)
        except StorageUnreadable:  # no replica can read the task: the sweeper ends its turn
            return None
        try:
            await writer.add_message(turn.request.message)
        except Fenced:  # another replica has claimed it meanwhile
            writer.release()
            return None
        except BaseException:
            writer.release()
            raise
        if not job.resumed and is_new(job.task):
            job.task = None
        self._jobs[turn.task_id] = job
        job.advance(Transition.STORE)
        return job

    async def _run_opened(self, job: Job) -> None:
        """Run a turn to its end. One that was suspended meanwhile, because the process ends, does not begin."""
        if job.stage is not Stage.STORED:
            await job.ended.wait()
            return
        work = self._spawn(self._run(job), context=job.context)
        job.begin(work)
        await asyncio.wait([work])

    async def _end_early(self, opening: asyncio.Task[Job | None], *, canceled: bool) -> None:
        """Stop a run: its task is canceled, or this worker ends.

        Raises:
            Requeued: It continues in another process.
        """
        await asyncio.wait([opening])
        if isinstance(opening.exception(), StorageError):
            raise Requeued from opening.exception()
        job = opening.result()
        if job is None:
            return
        if canceled:
            await self._stop(job, stored_call(job.turn))
        else:
            await self._suspend(job)
        if is_suspended(job):
            raise Requeued

    def _release(self, job: Job) -> None:
        """Remove all but the row of a turn from this process."""
        if self._jobs.get(job.turn.task_id) is job:
            del self._jobs[job.turn.task_id]
        if job.writer is not None:
            job.writer.release()
        job.advance(Transition.END)

    async def _cancel(self, task_id: str, owner: str, call: ServerCallContext) -> None:
        """Cancel a task, whichever replica runs it.

        Raises:
            TaskNotCancelableError: Other replicas began its next turn at each try. That turn continues, and its row stays.
        """
        for _ in range(MAX_CANCEL_TRIES):
            if await self._try_cancel(task_id, owner, call):
                break
        else:
            raise TaskNotCancelableError(CONTESTED)
        row = await self._runs.row(task_id)
        if row is not None:
            await self._removal.remove(task_id, row.writer)
        await self._runner.forget(task_id)

    async def _try_cancel(self, task_id: str, owner: str, call: ServerCallContext) -> bool:
        """Cancel a task; `False` if another replica began its next turn meanwhile."""
        if await self._was_canceled(task_id, owner):
            return True
        await self._remove_from_queue(task_id)
        if await self._was_canceled(task_id, owner):
            return True
        head = await self._tasks.head(task_id, owner)
        try:
            if is_new(head):
                await self._cancel_unbegun(task_id, owner)
            else:
                await self._cancel_without_run(task_id, owner, call)
        except TaskNotCancelableError:
            return await self._was_canceled(task_id, owner)
        head = await self._tasks.head(task_id, owner)
        return head is None or head.status.state in TERMINAL

    async def _was_canceled(self, task_id: str, owner: str) -> bool:
        """Whether a task has been canceled meanwhile, by this cancel or by one at another replica.

        Raises:
            TaskNotCancelableError: It has ended otherwise.
        """
        head = await self._tasks.head(task_id, owner)
        if head is None or head.status.state not in TERMINAL:
            return False
        if head.status.state != TaskState.TASK_STATE_CANCELED:
            raise TaskNotCancelableError
        return True

    async def _remove_from_queue(self, task_id: str) -> None:
        """Remove the turn of a task from the queue and wait until no replica runs it."""
        aborted: set[int] = set()
        while True:
            change = self._queue.next_change()
            if (queued := await self._queue.find(task_id)) is None:
                return
            if await self._queue.withdraw(queued):
                return
            if queued.job_id not in aborted:
                aborted.add(queued.job_id)
                await self._queue.abort(queued)
            await _wait_for_change(change)

    async def _cancel_unbegun(self, task_id: str, owner: str) -> None:
        """Cancel a task of which no run has begun."""
        writer = await self._tasks.claim(task_id, owner)
        try:
            head = writer.head
            if head is None or head.status.state in TERMINAL:
                raise TaskNotCancelableError
            with contextlib.suppress(Fenced):  # another replica began it meanwhile
                await writer.append(canceled_status(task_id, head.context_id))
        finally:
            writer.release()

    async def drain(self, grace: float) -> None:
        """Accept no new turns, let the running ones finish within `grace` seconds, and leave the rest to other replicas.

        A turn that cannot be resumed fails with code `interrupted`.
        """
        self._draining = True
        await self._queue.stop_working()
        if self._accept_tasks:
            await asyncio.wait(self._accept_tasks, timeout=SETTLING_SECONDS)
        running = [job.work for job in self._jobs.values() if job.work is not None]
        if running:
            await asyncio.wait(running, timeout=grace)
        await self._suspend_all(list(self._jobs.values()))
        await self._finish_background(max(MIN_STOP_SECONDS, grace))
        await self._sweeper.stop()
        await self._queue.close()
        await self._removal.close()


async def _wait_for_change(change: asyncio.Event) -> None:
    """Wait until the queue changes, at most `MAX_POLL_SECONDS`."""
    await asyncio.sleep(MIN_POLL_SECONDS)
    await wait_for(change, MAX_POLL_SECONDS)

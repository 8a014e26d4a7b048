"""Runs turns in this process, and keeps them in a table of runs for the next one."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Coroutine, Iterable, Iterator
from typing import Any

import structlog
from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import Task
from a2a.utils.errors import A2AError, TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError

from utils.a2a_common.engine.contract import TurnRunner
from utils.a2a_common.engine.ends import RESTART_SECONDS, begin_task, cancel_unbegun, interrupt, suspend
from utils.a2a_common.engine.job import Job, has_received, is_over
from utils.a2a_common.engine.line import Line
from utils.a2a_common.engine.pace import Pace
from utils.a2a_common.engine.recovery import Recovery
from utils.a2a_common.engine.removal import RunRemoval
from utils.a2a_common.tasks.endings import copy_of
from utils.a2a_common.tasks.entries import Fenced
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.states import TERMINAL
from utils.a2a_common.tasks.turn import Turn
from utils.a2a_common.tasks.turn_codec import encode
from utils.a2a_common.tasks.writer import TaskWriter
from utils.errors import Draining, Overloaded, PlatformError, StorageError, TaskBusy
from utils.observability import catalogue
from utils.observability.metrics import count
from utils.persistence.runs import RunRow, RunStore

log = structlog.get_logger(__name__)

LEAST_REST = 1.0
"""Least seconds that work which is stopped has to end, whatever the grace is."""

_SETTLING_SECONDS = 5.0
"""Longest wait for the run of a settled turn to return, before a message that follows it is refused."""


class LocalEngine:
    """The engine of one process. Its only clock is that of the event loop, and it starts no thread.

    Args:
        tasks: The task log.
        runs: Keeps the accepted turns.
        runner: Runs one turn.
        max_turns: Most turns that run at the same time.
        max_waiting: Most turns that wait.
    """

    def __init__(
        self, tasks: TaskLog, runs: RunStore, runner: TurnRunner, *, max_turns: int, max_waiting: int
    ) -> None:
        self._tasks = tasks
        self._runs = runs
        self._runner = runner
        self._removal = RunRemoval(runs)
        self._line = Line(max_turns, max_waiting)
        self._pace = Pace(max_turns)
        self._jobs: dict[str, Job] = {}
        self._cancels: dict[str, asyncio.Task[None]] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._draining = False

    def under_way(self, task_id: str) -> bool:
        """Whether a turn of the task runs, waits or is being canceled."""
        return task_id in self._jobs or task_id in self._cancels

    @contextlib.contextmanager
    def at_rest(self, conversation: str) -> Iterator[bool]:
        """Let no turn of a conversation begin within the block; `False` where one is under way."""
        held = self._line.hold(conversation)
        try:
            yield held
        finally:
            if held:
                self._line.release(conversation)
                self._begin_next()

    async def start(self) -> None:
        """Go on with the turns that an earlier process left; fail those that cannot go on.

        Raises:
            StorageError: The stored turns cannot be read.
        """
        for row, turn in await Recovery(self._tasks, self._runs, self._runner, self._abandon).turns():
            job = Job(turn, None, contextvars.copy_context(), resumed=True, attempts=row.attempts)
            writer = await self._claim(job)
            try:
                await writer.add_message(turn.request.message)
            except Fenced:  # another process has taken it meanwhile
                writer.release()
                continue
            job.accepted.set()
            self._join(job)
        self._begin_next()

    async def submit(self, turn: Turn, call: ServerCallContext) -> None:
        """Accept a turn: it is stored, it will be run, and the log can be read from now.

        Raises:
            Overloaded: Too many turns wait.
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
        if not self._line.takes(turn.conversation):
            raise Overloaded(self._pace.retry_after(self._line.waiting))
        job = Job(turn, call, contextvars.copy_context())
        self._join(job)
        self._begin_next()
        await asyncio.shield(self._spawn(self._accept(job)))

    async def cancel(self, task_id: str, owner: str, call: ServerCallContext) -> None:
        """Cancel a task: when this returns, its run has stopped and the task is in a terminal state.

        Raises:
            TaskNotFoundError: The owner has no such task.
            TaskNotCancelableError: It has ended before.
            StorageError: The task cannot be read.
        """
        job = self._jobs.get(task_id)
        if job is not None and job.turn.owner != owner:
            raise TaskNotFoundError
        if job is None and await self._tasks.head(task_id, owner) is None:
            raise TaskNotFoundError
        cancel = self._cancels.get(task_id)
        if cancel is None:
            cancel = self._cancels[task_id] = self._spawn(self._cancel(task_id, owner, call))
        await asyncio.shield(cancel)

    async def drain(self, grace: float) -> None:
        """Take no new turns, let the running ones finish within `grace` seconds, and keep the rest for the next process.

        A turn that cannot be resumed fails with code `interrupted`.
        """
        self._draining = True
        await self._put_off([job for job in self._jobs.values() if job.work is None])
        running = [job.work for job in self._jobs.values() if job.work is not None]
        if running:
            await asyncio.wait(running, timeout=grace)
        await self._put_off(list(self._jobs.values()))
        await self._finish_background(max(LEAST_REST, grace))
        await self._removal.close()

    async def _finish_background(self, seconds: float) -> None:
        """Wait for what turns left to do, as cancellations at other agents; the process does not wait longer for it."""
        clock = asyncio.get_running_loop().time
        until = clock() + seconds
        while self._background and clock() < until:
            await asyncio.wait(self._background, timeout=until - clock())
        if self._background:
            log.warning("drain.unfinished", left=len(self._background), seconds=seconds)

    async def _put_off(self, jobs: Iterable[Job]) -> None:
        await asyncio.gather(*map(self._put_one_off, jobs))

    async def _put_one_off(self, job: Job) -> None:
        """Keep a turn for the next process, or fail it."""
        job.stopping = True
        await job.accepted.wait()
        if job.writer is None or job.ended.is_set():
            return
        if self._runner.resumable:
            suspend(job.writer)
        else:
            await interrupt(job.writer, job.turn.task_id, job.turn)
            if job.work is None and job.task is not None:
                self._abandon(job.turn.task_id)
        await self._stop_run(job)

    async def _settle(self, task_id: str) -> None:
        """Wait until the run of a settled turn has returned: its reader has the end before that."""
        job = self._jobs.get(task_id)
        if job is not None and job.settled:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_SETTLING_SECONDS):
                    await job.ended.wait()

    def _join(self, job: Job) -> None:
        self._jobs[job.turn.task_id] = job
        self._line.join(job.turn.task_id, job.turn.conversation)
        count(catalogue.WAITING, 1)

    async def _accept(self, job: Job) -> None:
        """Store a turn that has its place in the line. It goes on when the caller goes away meanwhile."""
        turn = job.turn
        try:
            writer = await self._claim(job)
            if has_received(turn, job.task):  # another process has taken it since it was admitted here
                if is_over(turn, job.task):
                    self._leave(job)
                    return
                job.resumed = True  # it goes on here, since the claim has fenced the other one
            _check_open(writer.head)
            row = RunRow(turn.task_id, turn.conversation, turn.owner, encode(turn), writer.attempt)
            await self._runs.put(row)
            await writer.add_message(turn.request.message)
            if not job.admitted:
                await self._runner.accept(turn, writer)
        except BaseException as error:
            refused = isinstance(error, Exception) and not job.kept  # the next start must not run it
            self._forget(job)
            if refused:
                await self._remove(job)
            raise
        finally:
            job.accepted.set()
        self._begin(job)

    def _leave(self, job: Job) -> None:
        """Let go of a turn that has ended in another process: its task answers, and its row is not this one's."""
        assert job.writer is not None
        job.writer.release()
        job.writer = None
        self._forget(job)

    async def _claim(self, job: Job) -> TaskWriter:
        job.writer = writer = await self._tasks.claim(job.turn.task_id, job.turn.owner)
        job.task = copy_of(writer.head)
        return writer

    def _begin_next(self) -> None:
        for task_id in () if self._draining else self._line.next():
            self._jobs[task_id].admitted = True
            count(catalogue.WAITING, -1)
            self._begin(self._jobs[task_id])

    def _begin(self, job: Job) -> None:
        """Run a turn that is both stored and admitted."""
        if job.accepted.is_set() and job.admitted and not job.stopping:
            job.work = self._spawn(self._run(job), context=job.context)

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
            self._draining |= not job.stopping  # the event loop is torn down: no other turn begins
            raise
        finally:
            self._pace.note(loop.time() - began)
            self._forget(job)
        await self._close(job)

    async def _close(self, job: Job) -> None:
        """Remove the row of a turn that is over; one that goes on in the next process keeps it."""
        if not job.kept:
            removed = await self._remove(job)
            if not job.waits and (removed or not job.unstored):
                await self._runner.forget(job.turn.task_id)
        elif job.attempts:  # a process that stops in order was not killed by its turns
            await self._count_attempts(job, 0)

    async def _remove(self, job: Job) -> bool:
        assert job.writer is not None
        return await self._removal.remove(job.turn.task_id, job.writer.attempt)

    def _forget(self, job: Job) -> None:
        """Nothing of the turn is left in this process but its row."""
        del self._jobs[job.turn.task_id]
        self._line.leave(job.turn.task_id)
        if not job.admitted:
            count(catalogue.WAITING, -1)
        if job.writer is not None:
            job.writer.release()
        job.ended.set()
        self._begin_next()

    async def _count_attempts(self, job: Job, attempts: int) -> None:
        """Store how often a turn was taken over. Where that fails it goes on, and may be taken over once more."""
        assert job.writer is not None
        try:
            await self._runs.take(job.turn.task_id, writer=job.writer.attempt, attempts=attempts)
        except StorageError:
            log.warning("run.not_counted", task_id=job.turn.task_id)

    async def _cancel(self, task_id: str, owner: str, call: ServerCallContext) -> None:
        try:
            job = self._jobs.get(task_id)
            if job is None or not await self._stop(job, call):
                await self._cancel_without_run(task_id, owner, call)
        finally:
            del self._cancels[task_id]

    async def _stop(self, job: Job, call: ServerCallContext) -> bool:
        """Cancel a turn that waits or runs; `False` where the task did not end with it: it had asked its user meanwhile."""
        job.stopping = True
        await job.accepted.wait()
        if job.writer is None or (job.settled and not job.authenticates):
            await job.ended.wait()
            return False
        turn = job.turn
        if job.work is None and job.task is None:
            await cancel_unbegun(job.writer, turn)
        elif await begin_task(job.writer, turn) is not None:
            await self._runner.cancel(turn.task_id, turn.context_id, job.writer, call)
        await self._stop_run(job)
        head = job.writer.head
        return head is not None and head.status.state in TERMINAL

    async def _stop_run(self, job: Job) -> None:
        """Stop a run whose end is written, and what waits in the line."""
        if job.work is None:
            if not job.ended.is_set():  # else it was canceled and put off at the same time
                self._forget(job)
                await self._close(job)
            return
        job.work.cancel()
        await asyncio.wait([job.work])
        if not job.ended.is_set():  # it had not begun
            self._forget(job)
        await self._close(job)

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
        self, work: Coroutine[Any, Any, None], context: contextvars.Context | None = None
    ) -> asyncio.Task[None]:
        """Start work that goes on when whoever waits for it goes away."""
        task = asyncio.get_running_loop().create_task(work, context=context)
        self._background.add(task)
        task.add_done_callback(self._note_end)
        return task

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._background.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, PlatformError | A2AError):
            log.error("engine.crashed", exc_info=error)


def _check_open(task: Task | None) -> None:
    """Refuse a message to a task that was canceled after the message was admitted."""
    if task is not None and task.status.state in TERMINAL:
        raise UnsupportedOperationError("The task has ended. Send a message without its id.")

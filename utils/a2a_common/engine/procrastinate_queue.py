"""`ProcrastinateQueue`: the queue of an agent's turns in PostgreSQL, which all its replicas share, based on Procrastinate.

Import this module only if DATABASE_URL is set. A job holds the id of a task and nothing else. Its lock is the conversation, so
that one turn of it runs at a time, over all replicas, in order.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any

import psycopg
from procrastinate import App, BaseRetryStrategy, JobContext, RetryDecision, exceptions
from procrastinate.job_context import AbortReason
from procrastinate.jobs import DeleteJobCondition, Job, Status
from psycopg_pool import PoolTimeout

from utils.a2a_common.engine.load import Load
from utils.a2a_common.engine.queue_tables import QueueTables
from utils.a2a_common.engine.resilient_jobs import AGAIN_SECONDS, Fit, ResilientJobManager, Sharing, task_of
from utils.a2a_common.engine.turn_queue import QueuedTurn, QueueSlot, Requeued, Work
from utils.a2a_common.engine.unfinished_turns import RESTART_SECONDS
from utils.cancellation import end_tasks
from utils.errors import Draining, Overloaded
from utils.persistence.postgres.errors import meaning
from utils.persistence.postgres.names import hold_lock, lock_number, queue_name
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.postgres.startup import TOO_FEW, unusable
from utils.supervised import supervised

TASK_NAME = "turn"

GOES_ON = 1
"""Priority of a turn that was begun before: it runs before the later turns of its conversation."""

HEARTBEAT_SECONDS = 1.0
POLL_SECONDS = 0.5
"""Seconds between two polls of a worker that gets no notification."""

CROWDED_SECONDS = 5.0
"""Seconds after which a request may come again that could not be accepted beside the others, of which each takes milliseconds."""

_OUTAGE = (exceptions.ProcrastinateException, psycopg.Error, OSError)
"""Errors that end a worker when the database fails."""


class ProcrastinateQueue:
    """The queue of an agent, and this process' worker on it.

    Args:
        tables: Its tables.
        at_once: Maximum number of turns that each replica runs at the same time.
        takeover_seconds: Seconds after a worker's last heartbeat within which its turns run elsewhere.
        grace: Seconds that turns have to stop if the worker ends by itself.
        fit: Whether this process can run turns now; it takes none while it cannot. Always if omitted.
    """

    def __init__(
        self,
        tables: QueueTables,
        *,
        at_once: int,
        takeover_seconds: float,
        grace: float = 5.0,
        fit: Fit | None = None,
    ) -> None:
        self._tables = tables
        self._at_once = at_once
        self._grace = grace
        self._fit = fit
        self.stalled_seconds = stalled_seconds(takeover_seconds)
        self.name = queue_name(tables.schema)
        self._app: App | None = None
        self._manager: ResilientJobManager | None = None
        self._beat: asyncio.Task[None] | None = None
        self._worker: asyncio.Task[None] | None = None
        self._stopping = False
        self._fair = False

    async def open(self, work: Work, *, fair: bool = False) -> None:
        """Connect, and begin to run turns with `work`. With `fair`, places are shared among the callers.

        Raises:
            SettingsError: The server has too few connections.
            StorageError: The database cannot be reached.
        """
        logging.getLogger("procrastinate").setLevel(logging.WARNING)
        connector = self._tables.connector()
        self._app = app = App(connector=connector)
        self._fair = fair
        sharing = Sharing(self._at_once, self.stalled_seconds) if fair else None
        app.job_manager = self._manager = ResilientJobManager(connector, self.name, sharing, self._fit)
        _register(app, self.name, self._noted(work, self._manager))
        try:
            with _storage_errors():
                await connector.open_async()
        except PoolTimeout as error:  # the agent's own connections are open by now
            raise unusable(TOO_FEW) from error
        worker = supervised(
            "worker",
            partial(self._run_worker, app),
            foreseen=_OUTAGE,
            first=AGAIN_SECONDS,
            longest=AGAIN_SECONDS,
            settles=AGAIN_SECONDS,
        )
        self._worker = asyncio.create_task(worker)

    async def stop_working(self) -> None:
        """Fetch no more turns. Running turns, and the heartbeats, continue until `close`. Safe to call twice."""
        if not self._stopping and self._worker is not None:
            self._stopping = True
            self._worker.cancel()
            heartbeats = supervised(
                "signs_of_life",
                self._stay_alive,
                foreseen=_OUTAGE,
                first=HEARTBEAT_SECONDS,
                longest=HEARTBEAT_SECONDS,
            )
            self._beat = asyncio.create_task(heartbeats)

    async def _stay_alive(self) -> float | None:
        """Send heartbeats while turns still run: a stopping worker sends none itself, and would count as dead."""
        if self._manager is None or self._manager.worker_id is None:
            return None
        await self._manager.update_heartbeat(self._manager.worker_id)
        return HEARTBEAT_SECONDS

    async def close(self) -> None:
        """End the worker, which puts back what still runs, and disconnect. Safe to call twice."""
        await self.stop_working()
        if self._manager is not None:
            self._manager.closing = True
        if self._worker is not None:
            await asyncio.wait([self._worker])
        if self._beat is not None:
            await end_tasks([self._beat])
        if self._app is not None:
            app, self._app = self._app, None
            await app.close_async()

    def _noted(self, work: Work, jobs: ResilientJobManager) -> Callable[[JobContext], Awaitable[None]]:
        async def run(context: JobContext) -> None:
            jobs.note_begun(context.job)
            await work(_queued(context.job, lambda: context.abort_reason() is AbortReason.USER_REQUEST))

        return run

    async def _run_worker(self, app: App) -> float | None:
        """Run a worker until `stop_working`. One that lost the database is replaced by another after a pause."""
        if self._stopping:
            return None
        await app.run_worker_async(
            queues=[self.name],
            name=self._tables.schema,
            concurrency=self._at_once,
            fetch_job_polling_interval=POLL_SECONDS,
            abort_job_polling_interval=HEARTBEAT_SECONDS,
            shutdown_graceful_timeout=self._grace,
            update_heartbeat_interval=HEARTBEAT_SECONDS,
            stalled_worker_timeout=self.stalled_seconds,
            delete_jobs=DeleteJobCondition.ALWAYS.value,
            install_signal_handlers=False,
        )
        return None if self._stopping else AGAIN_SECONDS

    @asynccontextmanager
    async def slot(self, task_id: str, conversation: str) -> AsyncIterator[QueueSlot]:
        """The transaction that adds a turn. Only one runs at a time, so that two replicas cannot use the same last place.

        Raises:
            StorageError: The database failed.
            Overloaded: Other requests were accepted meanwhile for as long as one waits for a lock.
        """
        async with self._tables.transaction() as transaction:
            await transaction.lock(hold_lock(self._tables.schema, conversation), shared=True)
            try:
                await transaction.lock(self._lock("line"))
            except psycopg.errors.LockNotAvailable as error:
                raise Overloaded(CROWDED_SECONDS) from error
            found = await transaction.counts(self.name, task_id, self.stalled_seconds)
            places = self._at_once * max(1, found.workers)
            load = Load(places, found.loads, conversation, self._fair)

            async def take(goes_on: bool) -> None:
                with _storage_errors():
                    await self._defer(
                        task_id, conversation, goes_on=goes_on, connection=transaction.connection
                    )

            yield QueueSlot(load, found.task_busy, take)

    @asynccontextmanager
    async def hold_turns(self, conversation: str) -> AsyncIterator[bool]:
        """Keep turns of a conversation from being added within the block; `False` if there is one already."""
        async with self._tables.held_if_free(hold_lock(self._tables.schema, conversation)) as free:
            with _storage_errors():
                held = free and not await self._jobs.is_busy(conversation)
            yield held

    def _lock(self, *parts: str) -> int:
        return lock_number(self.name, *parts)

    async def find(self, task_id: str) -> QueuedTurn | None:
        """The turn of a task that waits or runs, on any replica."""
        with _storage_errors():
            found = await self._jobs.of_task(task_id)
        if found is None:
            return None
        return QueuedTurn(
            found["id"], task_id, _goes_on(found["priority"], found["attempts"]), found["status"] == "doing"
        )

    def next_change(self) -> asyncio.Event:
        """Set when this replica is notified that a turn was added, has ended or was requeued. Notifications can be lost."""
        return self._jobs.next_change()

    async def withdraw(self, turn: QueuedTurn) -> bool:
        """Remove a waiting turn from the queue; `False` if it runs or is gone."""
        with _storage_errors():
            return await self._jobs.cancel_job_by_id_async(turn.job_id, abort=False, delete_job=True)

    async def abort(self, turn: QueuedTurn) -> None:
        """Stop a turn wherever it runs."""
        with _storage_errors():
            await self._jobs.cancel_job_by_id_async(turn.job_id, abort=True)

    async def all_tasks(self) -> set[str]:
        """The tasks of all turns that wait or run."""
        with _storage_errors():
            return await self._jobs.tasks()

    async def waiting(self) -> int:
        """How many turns no replica runs yet."""
        with _storage_errors():
            return await self._jobs.waiting()

    async def restore(self, task_id: str, conversation: str) -> None:
        """Queue a stored turn unless it is in the queue already."""
        with _storage_errors(), suppress(exceptions.AlreadyEnqueued):
            await self._defer(task_id, conversation, goes_on=True)

    @asynccontextmanager
    async def sweeping(self) -> AsyncIterator[bool]:
        """Whether this replica may sweep within the block: one at a time, over all replicas."""
        async with self._tables.transaction() as transaction:
            yield await transaction.try_lock(self._lock("sweeper"))

    async def requeue_stalled(self) -> list[str]:
        """Queue the turns of dead workers as new jobs and return their tasks. Only within `sweeping`."""
        with _storage_errors():
            stalled = list(
                await self._jobs.get_stalled_jobs(
                    queue=self.name, seconds_since_heartbeat=self.stalled_seconds
                )
            )
            for job in stalled:
                with suppress(exceptions.AlreadyEnqueued):  # a sweeper died between the two steps
                    await self._defer(task_of(job), job.lock or "", goes_on=True)
                await self._jobs.finish_job(job, Status.FAILED, delete_job=True)
        return [task_of(job) for job in stalled]

    async def clear(self) -> None:
        """Delete the rows of jobs that were canceled and requeued at the same moment; other jobs leave none."""
        with _storage_errors():
            await self._jobs.delete_old_jobs(
                0, queue=self.name, include_failed=True, include_cancelled=True, include_aborted=True
            )

    async def _defer(self, task_id: str, conversation: str, *, goes_on: bool, connection: Any = None) -> None:
        job = Job(
            queue=self.name,
            lock=conversation,
            queueing_lock=task_id,
            task_name=TASK_NAME,
            task_kwargs={"task_id": task_id},
            priority=GOES_ON if goes_on else 0,
        )
        await self._jobs.defer_job_async(job, connection=connection)

    @property
    def _jobs(self) -> ResilientJobManager:
        if self._app is None or self._manager is None:  # the process ends
            raise Draining(RESTART_SECONDS)
        return self._manager


class _RequeueOnly(BaseRetryStrategy):
    """A job runs again only if its worker requeued it: a job that fails has ended its task."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        del job
        return RetryDecision(priority=GOES_ON) if isinstance(exception, Requeued) else None


def _register(app: App, queue: str, run: Callable[[JobContext], Awaitable[None]]) -> None:
    @app.task(name=TASK_NAME, queue=queue, pass_context=True, retry=_RequeueOnly())
    async def run_turn(context: JobContext, task_id: str) -> None:
        del task_id  # it is in the job as well
        await run(context)


def _queued(job: Job, canceled: Callable[[], bool] = bool) -> QueuedTurn:
    assert job.id is not None
    return QueuedTurn(
        job.id, task_of(job), _goes_on(job.priority, job.attempts), job.status == "doing", canceled
    )


def _goes_on(priority: int, attempts: int) -> bool:
    return priority >= GOES_ON or attempts > 0


def stalled_seconds(takeover_seconds: float) -> float:
    """Seconds without a heartbeat after which a worker counts as dead. The rest of the takeover time is for the new start."""
    return max(2 * HEARTBEAT_SECONDS, 0.7 * takeover_seconds)


async def apply_schema(pool: PostgresPool) -> None:
    """Install Procrastinate's tables in the agent's schema if they are missing.

    Raises:
        StorageError: The database failed.
    """
    from procrastinate.schema import SchemaManager

    async with pool.connection() as connection:
        cursor = await connection.execute("SELECT to_regclass('procrastinate_jobs') IS NOT NULL")
        row = await cursor.fetchone()
        if not (row and row[0]):
            await connection.execute(SchemaManager.get_schema())


@contextmanager
def _storage_errors() -> Iterator[None]:
    try:
        yield
    except exceptions.ConnectorException as error:
        raise meaning(error.__cause__) from error

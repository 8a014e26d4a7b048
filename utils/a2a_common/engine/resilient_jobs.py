"""`ResilientJobManager`: Procrastinate's jobs for a worker that outlives an outage of its database, and hears at once of ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, LiteralString

import structlog
from procrastinate import exceptions
from procrastinate.connector import BaseAsyncConnector
from procrastinate.jobs import Job, Notification, Status
from procrastinate.manager import JobManager, NotificationCallback
from psycopg.errors import ForeignKeyViolation

from utils.a2a_common.engine.load import ConversationLoad, Load
from utils.errors import StorageError

log = structlog.get_logger(__name__)

AGAIN_SECONDS = 1.0
"""Pause before what failed with the database is tried again."""

WAKE = "SELECT pg_notify(%(channel)s, %(payload)s)"
"""The query that tells the workers of a queue to look."""

CHANNEL = "procrastinate_queue_v1#"
"""What Procrastinate puts before the name of a queue."""

COUNTS: LiteralString = """
SELECT (SELECT count(*) FROM procrastinate_workers WHERE last_heartbeat > now() - make_interval(secs => %(alive)s)) AS workers,
    coalesce(bool_or(task), false) AS task_busy,
    coalesce(json_agg(json_build_array(lock, running, waiting, first, priority)), '[]') AS loads
FROM (
    SELECT lock, count(*) FILTER (WHERE status = 'doing') AS running, count(*) FILTER (WHERE status = 'todo') AS waiting,
        coalesce((array_agg(id ORDER BY priority DESC, id) FILTER (WHERE status = 'todo'))[1], 0) AS first,
        coalesce(max(priority) FILTER (WHERE status = 'todo'), 0) AS priority, bool_or(queueing_lock = %(task)s) AS task
    FROM procrastinate_jobs WHERE queue_name = %(queue)s AND status IN ('todo', 'doing') GROUP BY lock
) AS conversations
"""
"""The query for the unfinished jobs of a queue: workers that live, whether a task has one, and the loads."""

TAKE: LiteralString = """
WITH candidate AS (
    SELECT jobs.id FROM procrastinate_jobs AS jobs
    WHERE jobs.id = ANY(%(jobs)s::bigint[]) AND jobs.status = 'todo' AND NOT EXISTS (
        SELECT 1 FROM procrastinate_jobs AS other WHERE other.lock = jobs.lock AND (
            other.status = 'doing' OR other.status = 'todo' AND (-other.priority, other.id) < (-jobs.priority, jobs.id)))
    ORDER BY array_position(%(jobs)s::bigint[], jobs.id) LIMIT 1 FOR UPDATE OF jobs SKIP LOCKED
)
UPDATE procrastinate_jobs SET status = 'doing', worker_id = %(worker_id)s
FROM candidate WHERE procrastinate_jobs.id = candidate.id RETURNING procrastinate_jobs.*
"""
"""The query that gives a worker the first of some jobs that is the next of its conversation still."""

WAITING: LiteralString = """
SELECT count(*) AS waiting FROM procrastinate_jobs WHERE queue_name = %(queue)s AND status = 'todo'
"""
"""The query for the number of jobs that no worker runs yet."""

TASKS: LiteralString = """
SELECT args ->> 'task_id' AS task_id FROM procrastinate_jobs WHERE queue_name = %(queue)s AND status IN ('todo', 'doing')
"""
"""The query for the tasks of the unfinished jobs of a queue."""

OF_TASK: LiteralString = """
SELECT id, priority, attempts, status FROM procrastinate_jobs
WHERE queue_name = %(queue)s AND queueing_lock = %(task)s AND status IN ('todo', 'doing') ORDER BY id LIMIT 1
"""
"""The query for the oldest unfinished job of a task."""

OF_LOCK: LiteralString = """
SELECT EXISTS (SELECT 1 FROM procrastinate_jobs WHERE queue_name = %(queue)s AND lock = %(lock)s AND status IN ('todo', 'doing')) AS busy
"""
"""The query whether a lock has an unfinished job."""

Fit = Callable[[], Awaitable[bool]]
"""Tells whether a worker can run jobs now. Raises `StorageError` where that cannot be learned."""

Try = tuple[int | None, int]
"""One run of a job by a worker: the job's id, and how often it was put back before."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """How the places of all workers are shared among the callers.

    Attributes:
        at_once: Turns that each worker runs at the same time.
        alive: Seconds after its last sign of life in which a worker counts.
    """

    at_once: int
    alive: float


class ResilientJobManager(JobManager):
    """The worker's database operations, which outlast failures of the database.

    Procrastinate ends a worker whose query fails, with all that it runs; and where a sign of life fails, or the connection
    that hears of new jobs is lost, it sends no more of them and hears no more, without a word. Here the worker goes on. It
    also tells the workers when a job that others waited for is over or waits again; Procrastinate tells of new ones only.
    And it tells the worker to abort a job only once that has begun: a task of asyncio that is canceled before its first step
    does nothing, so that the job would neither run nor end, and keep its lock.

    Attributes:
        closing: Whether the process ends, so that a database that is away is not waited for.
        worker_id: The worker; `None` before the first one.
    """

    def __init__(
        self,
        connector: BaseAsyncConnector,
        queue: str,
        sharing: Sharing | None = None,
        fit: Fit | None = None,
    ) -> None:
        super().__init__(connector)
        self._queue = queue
        self._sharing = sharing
        self._fit = fit
        self._held: set[Try] = set()
        self._begun: set[Try] = set()
        self._lost_answer = False
        self._change = asyncio.Event()
        self.closing = False
        self.worker_id: int | None = None

    # what the worker does from time to time

    async def register_worker(self) -> int:
        """See the base class."""
        self.worker_id = await super().register_worker()
        self._held.clear()
        self._begun.clear()
        self._lost_answer = False
        return self.worker_id

    async def update_heartbeat(self, worker_id: int) -> None:
        """Give a sign of life. Where that fails, the next one follows soon."""
        with suppress(exceptions.ConnectorException):
            await super().update_heartbeat(worker_id)

    async def list_jobs_to_abort_async(self, queue: str | None = None) -> Iterable[int]:
        """Running jobs whose end was asked for, as far as that can be learned now."""
        with suppress(exceptions.ConnectorException):
            asked = await super().list_jobs_to_abort_async(queue)
            return [job_id for job_id in asked if self._has_begun(job_id)]
        return []

    async def listen_for_jobs(
        self, *, on_notification: NotificationCallback, queues: Iterable[str] | None = None
    ) -> None:
        """Hear of new jobs, and of ends that are asked for; a connection that is lost is replaced."""

        async def heard(*, channel: str, notification: Notification) -> None:
            self._note_change()
            if notification["type"] == "abort_job_requested" and not self._has_begun(notification["job_id"]):
                return  # it is found in the table once the job has begun
            await on_notification(channel=channel, notification=notification)

        while True:
            with suppress(exceptions.ConnectorException):
                await super().listen_for_jobs(on_notification=heard, queues=queues)
            await asyncio.sleep(AGAIN_SECONDS)
            self._note_change()  # what was told meanwhile is lost

    def next_change(self) -> asyncio.Event:
        """Set when this worker hears of a job that was added, is over or waits again."""
        return self._change

    def _note_change(self) -> None:
        changed, self._change = self._change, asyncio.Event()
        changed.set()

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """The next job. Where that fails, or the worker cannot run it, there is none for now.

        Raises:
            ConnectorException: The worker was removed from the table because it stood still for long: it begins anew.
        """
        if not await self._is_fit():
            return None
        try:
            if self._lost_answer:
                await self._requeue_unknown(worker_id)
            if self._sharing is None:
                job = await super().fetch_job(queues, worker_id)
            else:
                job = await self._fetch_shared(self._sharing, worker_id)
        except exceptions.ConnectorException as error:
            if isinstance(error.__cause__, ForeignKeyViolation):
                raise
            log.warning("queue.fetch_failed", kind=type(error.__cause__).__name__)
            self._lost_answer = True
            return None
        if job is not None:
            self._held.add(_try_of(job))
        return job

    async def _is_fit(self) -> bool:
        with suppress(StorageError):
            return self._fit is None or await self._fit()
        return False

    async def _fetch_shared(self, sharing: Sharing, worker_id: int) -> Job | None:
        """The next job, where places are shared. Two workers that look at once may take one place each for the same caller."""
        ask = self.connector.execute_query_all_async
        (found,) = await ask(COUNTS, task="", queue=self._queue, alive=sharing.alive)
        places = sharing.at_once * max(1, found["workers"])
        jobs = Load(places, loads_of(found["loads"]), fair=True).candidates()
        taken = await ask(TAKE, jobs=jobs, worker_id=worker_id) if jobs else []
        return Job.from_row(taken[0]) if taken else None

    async def _requeue_unknown(self, worker_id: int) -> None:
        """Let jobs wait again that were given to this worker in an answer that it never got."""
        for job in await self.list_jobs_async(worker_id=worker_id, status="doing"):
            if _try_of(job) not in self._held:
                await super().retry_job(job)
        self._lost_answer = False

    # what is asked about the unfinished jobs: counts and ids, whatever their number

    async def waiting(self) -> int:
        """How many jobs no worker runs yet."""
        (found,) = await self.connector.execute_query_all_async(WAITING, queue=self._queue)
        return int(found["waiting"])

    async def tasks(self) -> set[str]:
        """The tasks of all unfinished jobs."""
        found = await self.connector.execute_query_all_async(TASKS, queue=self._queue)
        return {str(row["task_id"]) for row in found}

    async def of_task(self, task_id: str) -> dict[str, Any] | None:
        """Columns of the oldest unfinished job of a task: `id`, `priority`, `attempts` and `status`."""
        found = await self.connector.execute_query_all_async(OF_TASK, queue=self._queue, task=task_id)
        return found[0] if found else None

    async def is_busy(self, lock: str) -> bool:
        """Whether a lock has an unfinished job."""
        (found,) = await self.connector.execute_query_all_async(OF_LOCK, queue=self._queue, lock=lock)
        return bool(found["busy"])

    # the beginning and the end of a job

    def note_begun(self, job: Job) -> None:
        """A job has taken its first step."""
        self._begun.add(_try_of(job))

    def _has_begun(self, job_id: int) -> bool:
        return any(begun == job_id for begun, _ in self._begun)

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """See the base class."""
        await self._until_stored(job, partial(super().finish_job, job, status, delete_job))

    async def retry_job(self, job: Job, *args: Any, **options: Any) -> None:
        """See the base class."""
        await self._until_stored(job, partial(super().retry_job, job, *args, **options))

    async def _until_stored(self, job: Job, step: Callable[[], Awaitable[None]]) -> None:
        """Store the outcome of a job, and keep trying while the database is away: otherwise the job would hold its lock for ever.

        A step that failed may have been done all the same, and the job may be at its next try elsewhere: it is repeated only
        once the database has told that it was not.
        """
        runs: bool | None = True
        while True:
            if runs and await self._is_stored(job, step):
                break
            runs = await self._runs(job)
            if runs is False or self.closing:
                log.warning("queue.job_not_ended", task_id=task_of(job))
                break
            await asyncio.sleep(AGAIN_SECONDS)
        self._held.discard(_try_of(job))
        self._begun.discard(_try_of(job))

    async def _is_stored(self, job: Job, step: Callable[[], Awaitable[None]]) -> bool:
        try:
            await step()
        except exceptions.ConnectorException:
            return False
        with suppress(exceptions.ConnectorException):  # workers look by themselves, a little later
            await self._wake(job)
        return True

    async def _runs(self, job: Job) -> bool | None:
        """Whether this try of a job is the running one still; `None` where that cannot be learned.

        It is not where its end was stored and the answer got lost, or its worker was taken for dead.
        """
        with suppress(exceptions.ConnectorException):
            running = await self.list_jobs_async(id=job.id, status="doing", worker_id=job.worker_id)
            return _try_of(job) in map(_try_of, running)
        return None

    async def _wake(self, job: Job) -> None:
        payload = json.dumps({"type": "job_inserted", "job_id": job.id})
        await self.connector.execute_query_async(WAKE, channel=CHANNEL + self._queue, payload=payload)


def loads_of(found: list[list[Any]]) -> list[ConversationLoad]:
    """The conversations that the query tells of."""
    return [ConversationLoad(*each) for each in found]


def _try_of(job: Job) -> Try:
    return job.id, job.attempts


def task_of(job: Job) -> str:
    """The task whose turn a job is."""
    return str(job.task_kwargs["task_id"])

"""`ResilientJobManager`: Procrastinate's job manager for a worker that survives an outage of its database."""

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
"""Pause before a failed database operation is retried."""

WAKE = "SELECT pg_notify(%(channel)s, %(payload)s)"
"""The query that notifies the workers of a queue."""

CHANNEL = "procrastinate_queue_v1#"
"""Prefix of Procrastinate's notification channel of a queue."""

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
"""The query for the unfinished jobs of a queue: living workers, whether a task has a job, and the loads."""

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
"""The query that gives a worker the first of some jobs that is still the next one of its conversation."""

WAITING: LiteralString = """
SELECT count(*) AS waiting FROM procrastinate_jobs WHERE queue_name = %(queue)s AND status = 'todo'
"""
"""The query for the number of waiting jobs."""

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
"""The query for whether a lock has an unfinished job."""

Fit = Callable[[], Awaitable[bool]]
"""Whether the worker can run jobs now. Raises `StorageError` if that cannot be determined."""

JobRun = tuple[int | None, int]
"""One run of a job by a worker: the job's id, and how often it was requeued before."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """How the places of all workers are shared among the callers.

    Attributes:
        at_once: Turns that each worker runs at the same time.
        alive: Seconds after its last heartbeat in which a worker counts as alive.
    """

    at_once: int
    alive: float


class ResilientJobManager(JobManager):
    """The worker's database operations, which survive failures of the database.

    It differs from Procrastinate in three points:

    - Procrastinate ends a worker whose query fails, with all its jobs. If a heartbeat fails, or the connection for
      notifications is lost, it silently sends or receives no more. Here the worker continues.
    - It notifies the workers also when a job has ended or was requeued, not only of new jobs.
    - It passes on the request to abort a job only once the job has begun: an asyncio task that is canceled before its first
      step does nothing, so that the job would neither run nor end, and would keep its lock.

    Attributes:
        closing: Whether the process ends, so that nothing waits for an unavailable database.
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
        self._held: set[JobRun] = set()
        self._begun: set[JobRun] = set()
        self._lost_answer = False
        self._change = asyncio.Event()
        self.closing = False
        self.worker_id: int | None = None

    # periodic operations of the worker

    async def register_worker(self) -> int:
        """See the base class."""
        self.worker_id = await super().register_worker()
        self._held.clear()
        self._begun.clear()
        self._lost_answer = False
        return self.worker_id

    async def update_heartbeat(self, worker_id: int) -> None:
        """Send a heartbeat. If that fails, the next one follows soon."""
        with suppress(exceptions.ConnectorException):
            await super().update_heartbeat(worker_id)

    async def list_jobs_to_abort_async(self, queue: str | None = None) -> Iterable[int]:
        """Running jobs with a request to abort them; none if the database cannot be read."""
        with suppress(exceptions.ConnectorException):
            asked = await super().list_jobs_to_abort_async(queue)
            return [job_id for job_id in asked if self._has_begun(job_id)]
        return []

    async def listen_for_jobs(
        self, *, on_notification: NotificationCallback, queues: Iterable[str] | None = None
    ) -> None:
        """Receive notifications of new jobs and of requests to abort one. A lost connection is replaced."""

        async def heard(*, channel: str, notification: Notification) -> None:
            self._note_change()
            if notification["type"] == "abort_job_requested" and not self._has_begun(notification["job_id"]):
                return  # it is found in the table once the job has begun
            await on_notification(channel=channel, notification=notification)

        while True:
            with suppress(exceptions.ConnectorException):
                await super().listen_for_jobs(on_notification=heard, queues=queues)
            await asyncio.sleep(AGAIN_SECONDS)
            self._note_change()  # notifications in between were lost

    def next_change(self) -> asyncio.Event:
        """Set when this worker is notified that a job was added, has ended or was requeued."""
        return self._change

    def _note_change(self) -> None:
        changed, self._change = self._change, asyncio.Event()
        changed.set()

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """The next job; `None` if the database fails or the worker cannot run jobs now.

        Raises:
            ConnectorException: The worker was removed from the table because it stalled for long: it must register again.
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
            self._held.add(_run_of(job))
        return job

    async def _is_fit(self) -> bool:
        with suppress(StorageError):
            return self._fit is None or await self._fit()
        return False

    async def _fetch_shared(self, sharing: Sharing, worker_id: int) -> Job | None:
        """The next job, if places are shared. Two workers that fetch at once may take one place each for the same caller."""
        ask = self.connector.execute_query_all_async
        (found,) = await ask(COUNTS, task="", queue=self._queue, alive=sharing.alive)
        places = sharing.at_once * max(1, found["workers"])
        jobs = Load(places, loads_of(found["loads"]), fair=True).candidates()
        taken = await ask(TAKE, jobs=jobs, worker_id=worker_id) if jobs else []
        return Job.from_row(taken[0]) if taken else None

    async def _requeue_unknown(self, worker_id: int) -> None:
        """Requeue jobs that the database assigned to this worker in a reply that was lost."""
        for job in await self.list_jobs_async(worker_id=worker_id, status="doing"):
            if _run_of(job) not in self._held:
                await super().retry_job(job)
        self._lost_answer = False

    # queries of the unfinished jobs, without their contents

    async def waiting(self) -> int:
        """Number of jobs that no worker runs yet."""
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
        """Record that a job has taken its first step."""
        self._begun.add(_run_of(job))

    def _has_begun(self, job_id: int) -> bool:
        return any(begun == job_id for begun, _ in self._begun)

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """See the base class."""
        await self._until_stored(job, partial(super().finish_job, job, status, delete_job))

    async def retry_job(self, job: Job, *args: Any, **options: Any) -> None:
        """See the base class."""
        await self._until_stored(job, partial(super().retry_job, job, *args, **options))

    async def _until_stored(self, job: Job, step: Callable[[], Awaitable[None]]) -> None:
        """Store the outcome of a job, with retries while the database is away: otherwise the job would keep its lock forever.

        A step that failed may have been stored all the same, and another worker may run the job again by then. So the step is
        repeated only after the database has confirmed that this run of the job still counts as running.
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
        self._held.discard(_run_of(job))
        self._begun.discard(_run_of(job))

    async def _is_stored(self, job: Job, step: Callable[[], Awaitable[None]]) -> bool:
        try:
            await step()
        except exceptions.ConnectorException:
            return False
        with suppress(exceptions.ConnectorException):  # workers poll as well, a little later
            await self._wake(job)
        return True

    async def _runs(self, job: Job) -> bool | None:
        """Whether this run of a job still counts as running; `None` if the database cannot be read.

        It does not if its end was stored and only the reply was lost, or if its worker was considered dead.
        """
        with suppress(exceptions.ConnectorException):
            running = await self.list_jobs_async(id=job.id, status="doing", worker_id=job.worker_id)
            return _run_of(job) in map(_run_of, running)
        return None

    async def _wake(self, job: Job) -> None:
        payload = json.dumps({"type": "job_inserted", "job_id": job.id})
        await self.connector.execute_query_async(WAKE, channel=CHANNEL + self._queue, payload=payload)


def loads_of(found: list[list[Any]]) -> list[ConversationLoad]:
    """The loads in a result of `COUNTS`."""
    return [ConversationLoad(*each) for each in found]


def _run_of(job: Job) -> JobRun:
    return job.id, job.attempts


def task_of(job: Job) -> str:
    """The task of a job."""
    return str(job.task_kwargs["task_id"])

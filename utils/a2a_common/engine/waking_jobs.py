"""`WakingJobs`: Procrastinate's jobs, whose ends the workers are told of at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

import structlog
from procrastinate import exceptions
from procrastinate.connector import BaseAsyncConnector
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager

log = structlog.get_logger(__name__)

AGAIN_SECONDS = 1.0
"""Pause before what failed with the database is tried again."""

WAKE = "SELECT pg_notify(%(channel)s, %(payload)s)"
"""The query that tells the workers of a queue to look."""

CHANNEL = "procrastinate_queue_v1#"
"""What Procrastinate puts before the name of a queue."""


class WakingJobs(JobManager):
    """Tells the workers when a job that others waited for is over or waits again: Procrastinate tells them of new ones only.

    Attributes:
        closing: Whether the process ends, so that a database that is away is not waited for.
    """

    def __init__(self, connector: BaseAsyncConnector, queue: str) -> None:
        super().__init__(connector)
        self._queue = queue
        self.closing = False

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """See the base class."""
        await self._until_stored(job, partial(super().finish_job, job, status, delete_job))

    async def retry_job(self, job: Job, *args: Any, **options: Any) -> None:
        """See the base class."""
        await self._until_stored(job, partial(super().retry_job, job, *args, **options))

    async def _until_stored(self, job: Job, step: Callable[[], Awaitable[None]]) -> None:
        """Store what became of a job, also where the database is away for a while: else it would hold its lock for ever.

        A worker that was taken for dead has no such job any more.
        """
        while True:
            try:
                await step()
                await self._wake(job)
            except exceptions.ConnectorException:
                if self.closing or await self._is_gone(job):
                    log.warning("queue.job_not_ended", task_id=task_of(job))
                    return
            else:
                return
            await asyncio.sleep(AGAIN_SECONDS)

    async def _is_gone(self, job: Job) -> bool:
        with suppress(exceptions.ConnectorException):
            return not list(await self.list_jobs_async(id=job.id, status="doing"))
        return False

    async def _wake(self, job: Job) -> None:
        payload = json.dumps({"type": "job_inserted", "job_id": job.id})
        await self.connector.execute_query_async(WAKE, channel=CHANNEL + self._queue, payload=payload)


def task_of(job: Job) -> str:
    """The task whose turn a job is."""
    return str(job.task_kwargs["task_id"])

"""`RunRemoval`: removes the rows of finished turns, with retries while the storage fails."""

from __future__ import annotations

import asyncio

import structlog

from utils.a2a_common.tasks.unwritten_ends import FIRST_PAUSE, LONGEST_PAUSE
from utils.cancellation import end_tasks
from utils.errors import StorageError
from utils.persistence.runs import RunStore
from utils.supervised import ItemErrors, supervised
from utils.timing import backoff

log = structlog.get_logger(__name__)


class RunRemoval:
    """Removes rows, with retries. A row that remains costs the next start a needless check.

    Args:
        runs: The table of runs.
    """

    def __init__(self, runs: RunStore) -> None:
        self._runs = runs
        self._left: dict[str, int] = {}
        self._tries = 0
        self._work: asyncio.Task[None] | None = None

    async def remove(self, task_id: str, writer: int) -> bool:
        """Remove the row of a turn, now or as soon as the storage works, unless a later attempt has stored it again.

        Returns:
            Whether it is removed when this returns.
        """
        self._left[task_id] = writer
        await self._try(task_id, writer)
        if self._left and (self._work is None or self._work.done()):
            self._tries = 1
            work = supervised(
                "removal", self._step, after=backoff(1, first=FIRST_PAUSE), longest=LONGEST_PAUSE
            )
            self._work = asyncio.create_task(work)
        return task_id not in self._left

    async def close(self) -> None:
        """Try each once more. The next start removes the rest."""
        if self._work is not None:
            await end_tasks([self._work])
        await self._try_all()

    async def _step(self) -> float | None:
        self._tries += 1
        await self._try_all()
        return backoff(self._tries, first=FIRST_PAUSE, longest=LONGEST_PAUSE) if self._left else None

    async def _try_all(self) -> None:
        failures = ItemErrors()

        async def each(task_id: str, writer: int) -> None:
            with failures.collect("removal", task_id=task_id):
                await self._try(task_id, writer)

        await asyncio.gather(*(each(task_id, writer) for task_id, writer in list(self._left.items())))
        failures.raise_first()

    async def _try(self, task_id: str, writer: int) -> None:
        try:
            await self._runs.remove(task_id, writer=writer)
        except StorageError:
            log.warning("run.not_removed", task_id=task_id)
        else:
            if self._left.get(task_id) == writer:
                del self._left[task_id]

"""Final states of tasks that could not be stored: served from memory, and retried until they are stored."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from utils.errors import StorageError
from utils.persistence.task_shelf import Row, Stale

log = structlog.get_logger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 30.0
"""Seconds between two tries, which double. A request for such a task triggers a try at once."""


class UnwrittenEnds:
    """Rows that wait to be written, by task. `write` writes one, whatever version is stored."""

    def __init__(self, write: Callable[[Row], Awaitable[None]]) -> None:
        self._write = write
        self._rows: dict[str, Row] = {}
        self._again = asyncio.Event()
        self._work: asyncio.Task[None] | None = None

    def keep(self, row: Row) -> None:
        """Keep the final state of a task, and start to write it."""
        log.warning("task.end_not_stored", task_id=row.id)
        self._rows[row.id] = row
        self._again.set()
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._until_written())

    def known(self, task_id: str) -> Row | None:
        """The final state of a task, if it is not written yet."""
        return self._rows.get(task_id)

    def look(self, task_id: str) -> Row | None:
        """The same, and a try to write it at once: a client asks for the task."""
        if task_id in self._rows:
            self._again.set()
        return self._rows.get(task_id)

    async def close(self) -> None:
        """Try each once more. The next start ends the tasks whose state cannot be written now."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        await self._try_all()

    async def _until_written(self) -> None:
        pause = FIRST_PAUSE
        while self._rows:
            self._again.clear()
            await self._try_all()
            if self._rows:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._again.wait(), pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    async def _try_all(self) -> None:
        for row in list(self._rows.values()):
            try:
                await self._write(row)
            except StorageError:
                return  # the others would fail too
            except Stale:
                log.info("task.ended_meanwhile", task_id=row.id)
            else:
                log.info("task.end_written", task_id=row.id)
            del self._rows[row.id]

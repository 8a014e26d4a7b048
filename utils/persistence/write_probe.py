"""Checks whether a database can be written: by its last write, or by a probe when that is too old."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from utils.errors import StorageError
from utils.persistence.database import Database

FRESH_SECONDS = 30.0
"""How long a successful write counts; three periods of a Kubernetes readiness probe."""

RETRY_SECONDS = 1.0
"""How long a failed write counts, so that frequent checks do not hammer a full disk."""

WAIT_SECONDS = 0.5
"""Timeout of a probe; Kubernetes gives up on a readiness probe after one second."""


class WriteProbe:
    """Probes a database; however often it is called, it writes every few seconds at most."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._running: asyncio.Task[None] | None = None

    async def succeeds(self) -> bool:
        """Whether the last write or a probe succeeded; the previous answer while a probe is slow."""
        if self._running is None and self._is_stale():
            self._running = asyncio.create_task(self._write())
        if self._running is not None:
            await asyncio.wait([self._running], timeout=WAIT_SECONDS)
        return not self._database.failing

    def _is_stale(self) -> bool:
        lasts = RETRY_SECONDS if self._database.failing else FRESH_SECONDS
        return time.monotonic() - self._database.written_at > lasts

    async def _write(self) -> None:
        try:
            with suppress(StorageError):
                await self._database.probe()
        finally:
            self._running = None

"""Ingests the configured sources in the background and knows how far it is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

import structlog

from agents.rag.ingest.ingester import Ingester
from agents.rag.ingest.progress import Outcome, Progress
from utils.errors import PlatformError

log = structlog.get_logger(__name__)


class StartupIngestion:
    """One ingestion that runs beside the server; made per agent, started once."""

    def __init__(self, ingester: Ingester, targets: Sequence[str]) -> None:
        self._ingester = ingester
        self._targets = targets
        self._task: asyncio.Task[None] | None = None
        self._detail = "ingesting"
        self._failed = ""

    def start(self) -> None:
        """Begin; returns at once."""
        self._task = asyncio.create_task(self._run(), name="rag-ingestion")

    async def stop(self) -> None:
        """End it where it is; what is written so far stays and is complete by itself."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def wait(self) -> None:
        """Until it is done."""
        if self._task is not None:
            await asyncio.shield(self._task)

    @property
    def running(self) -> bool:
        """Whether documents may still be missing because they were not read yet."""
        return self._task is None or not self._task.done()

    @property
    def detail(self) -> str:
        """How far it is, or why it failed: a phrase for an operator; empty after success."""
        return self._detail if self.running else self._failed

    async def _run(self) -> None:
        try:
            summary = await self._ingester.ingest(self._targets, self._on_progress)
            log.info("rag.ingested", summary=str(summary))
        except asyncio.CancelledError:
            raise
        except PlatformError as error:
            self._fail(error, error.message)
        except Exception as error:  # noqa: BLE001 - a background task: its end state is the failed detail
            self._fail(error, "The documents could not be ingested.")

    def _fail(self, error: Exception, reason: str) -> None:
        self._failed = reason
        log.error("rag.ingestion_failed", exc_info=error)

    def _on_progress(self, progress: Progress) -> None:
        self._detail = f"ingesting {progress.done} of {progress.total} documents"
        if progress.outcome is Outcome.SKIPPED:
            log.warning("rag.document_skipped", source=progress.source, reason=progress.message)

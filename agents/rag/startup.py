"""Ingests the configured sources in the background and knows how far it is.

First all words, which takes moments. Then the vectors, which take about a tenth of a second a
passage; until all are there, search goes by words alone. A small library is waited for, so that its
first answers are good ones; a large one is not: `RAG_READY_SECONDS` draws the line.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence

import structlog

from agents.rag.index.store import Store
from agents.rag.ingest.ingester import Ingester, embed_missing
from agents.rag.ingest.progress import Outcome, Progress
from agents.rag.settings import RagSettings
from utils.embeddings import Embedder
from utils.errors import PlatformError

log = structlog.get_logger(__name__)


class StartupIngestion:
    """One ingestion that runs beside the server; made per agent, started once."""

    def __init__(
        self, store: Store, settings: RagSettings, embedder: Embedder | None, targets: Sequence[str]
    ) -> None:
        self._store = store
        self._settings = settings
        self._embedder = embedder
        self._targets = targets
        self._reading = True
        self._embedding = embedder is not None
        self._task: asyncio.Task[None] | None = None
        self._detail = "ingesting"
        self._started = time.monotonic()
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
    def reading(self) -> bool:
        """Whether documents may still be missing because they were not read yet."""
        return self._reading

    @property
    def embedding(self) -> bool:
        """Whether vectors may still be missing, so that only words can be compared fairly."""
        return self._embedding

    @property
    def worth_waiting(self) -> bool:
        """Whether the agent should not take questions yet."""
        late = time.monotonic() - self._started > self._settings.ready_seconds
        return self._reading or (self._embedding and not late and not self._task_done())

    @property
    def detail(self) -> str:
        """How far it is, or why it failed: a phrase for an operator; empty after success."""
        return self._detail if self.worth_waiting else self._failed

    def _task_done(self) -> bool:
        return self._task is not None and self._task.done()

    async def _run(self) -> None:
        try:
            ingester = Ingester(self._store, self._settings, None)
            summary = await ingester.ingest(self._targets, self._on_progress, configured=True)
            log.info("rag.ingested", summary=str(summary))
        except PlatformError as error:
            self._fail(error, error.message)
        except Exception as error:  # noqa: BLE001 - a background task: its end state is the failed detail
            self._fail(error, "The documents could not be ingested.")
        finally:
            self._reading = False
        await self._embed()

    async def _embed(self) -> None:
        """Give every passage its vector; where that fails, search stays with words until the next start."""
        if self._embedder is None:
            return
        try:
            await embed_missing(self._store, self._embedder, on_batch=self._on_embedded)
            self._embedding = False
        except Exception:  # a background task: its end state is search by words
            log.exception("rag.embedding_failed", effect="words only until the next start")

    def _on_embedded(self, passages: int) -> None:
        self._detail = f"embedding passages, {passages} done"

    def _fail(self, error: Exception, reason: str) -> None:
        self._failed = reason
        log.error("rag.ingestion_failed", exc_info=error)

    def _on_progress(self, progress: Progress) -> None:
        self._detail = f"ingesting {progress.done} of {progress.total} documents"
        if progress.outcome is Outcome.SKIPPED:
            log.warning("rag.document_skipped", source=progress.source, reason=progress.message)

"""Ingests the configured sources in the background and knows how far it is.

First all words, which takes moments: then the agent is ready. Then the vectors: those of the
repository's own documents are shipped with it, others are computed while the agent already answers. Until
all are there, search goes by words alone, since a passage without a vector would lose against one that has it.

Where the index is shared and holds documents already, the agent is ready at once and answers from those until the ingestion is
whole. One replica ingests at a time; the next one then finds that little has changed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import structlog

from agents.rag.index.contract import DocumentIndex
from agents.rag.ingest.embedding import embed_missing, use_shipped
from agents.rag.ingest.ingester import Ingester
from agents.rag.ingest.progress import Outcome, Progress
from agents.rag.ingest.shipped import read_shipped
from agents.rag.settings import RagSettings
from utils.cancellation import end_tasks
from utils.embeddings import Embedder
from utils.errors import PlatformError, StorageError

log = structlog.get_logger(__name__)


class StartupIngestion:
    """One ingestion that runs beside the server; made per agent, started once."""

    def __init__(
        self,
        index: DocumentIndex,
        settings: RagSettings,
        embedder: Embedder | None,
        targets: Sequence[str],
    ) -> None:
        self._index = index
        self._settings = settings
        self._embedder = embedder
        self._targets = targets
        self._reading = True
        self._answers = False
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
            await end_tasks([self._task])

    async def wait(self) -> None:
        """Until it is done."""
        if self._task is not None:
            await asyncio.shield(self._task)

    @property
    def ready(self) -> bool:
        """Whether the agent takes questions: the documents can be searched by words at least."""
        late = time.monotonic() - self._started >= self._settings.ready_seconds
        waits = self._embedding and not late and not self._ended
        return self._answers or not (self._reading or self._failed or waits)

    @property
    def detail(self) -> str:
        """What it is busy with, or why it failed: a phrase for an operator; empty when all is done."""
        return self._detail if self.works else self._failed

    @property
    def works(self) -> bool:
        """Whether it goes on; otherwise it is done or has failed."""
        return self._reading or (self._embedding and not self._ended)

    @property
    def missing(self) -> str:
        """What a list of the documents should say of those that were not read yet; empty when all are there."""
        return (
            f"Documents are still being read ({self._detail}), so some may be missing."
            if self._reading and not self._answers
            else ""
        )

    @property
    def words_only(self) -> str:
        """Why only words can be compared fairly now; empty when every passage has a vector."""
        if not self._embedding or self._answers:
            return ""
        if self._ended:
            return "Only words were compared, since the passages could not be embedded."
        return f"Only words were compared, since passages are still being embedded ({self._detail})."

    @property
    def _ended(self) -> bool:
        return self._task is not None and self._task.done()

    async def _run(self) -> None:
        try:
            self._answers = await self._index.complete(self._model)
            async with self._index.ingesting(self._on_wait):
                await self._ingest()
        except StorageError as error:
            self._fail(error, error.for_operator)
        except PlatformError as error:
            self._fail(error, error.message)
        finally:
            self._reading = False

    async def _ingest(self) -> None:
        """Read and embed; what could not be read whole is not shown in the place of what is shown now."""
        try:
            ingester = Ingester(self._index, self._settings, None)
            summary = await ingester.read(self._targets, self._on_progress, configured=True)
            log.info("rag.ingested", summary=str(summary))
        except StorageError as error:
            self._fail(error, error.for_operator)
        except PlatformError as error:
            self._fail(error, error.message)
        except Exception as error:  # noqa: BLE001 - a background task: its end state is the failed detail
            self._fail(error, "The documents could not be ingested.")
        try:
            if self._embedder is not None:
                await self._embed(self._embedder)
        except Exception:  # a background task: its end state is search by words
            self._answers = False
            log.exception("rag.embedding_failed", effect="words only until the next start")
        if not self._failed:
            await self._index.publish(self._model)

    async def _embed(self, embedder: Embedder) -> None:
        """Give every passage its vector; those that are shipped take moments, so they belong to the reading."""
        if await self._index.count_stale(embedder.name):
            shipped = await asyncio.to_thread(read_shipped)
            used = await use_shipped(self._index, embedder.name, shipped)
            log.info("rag.shipped_vectors_used", passages=used)
        self._reading = False
        if not self._answers and not self._failed:
            await self._index.publish()
        await embed_missing(self._index, embedder, on_batch=self._on_embedded)
        self._embedding = False

    @property
    def _model(self) -> str:
        return self._embedder.name if self._embedder else ""

    def _on_wait(self, who: str) -> None:
        self._detail = f"waiting for the ingestion on {who}"
        log.info("rag.ingestion_waits", running_on=who)

    def _on_embedded(self, done: int, total: int) -> None:
        self._detail = f"{done} of {total} passages embedded"

    def _fail(self, error: Exception, reason: str) -> None:
        self._failed = reason
        log.error("rag.ingestion_failed", exc_info=error)

    def _on_progress(self, progress: Progress) -> None:
        self._detail = f"ingesting {progress.done} of {progress.total} documents"
        if progress.outcome is Outcome.SKIPPED:
            log.warning("rag.document_skipped", source=progress.source, reason=progress.message)

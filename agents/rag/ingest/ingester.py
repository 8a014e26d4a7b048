"""Brings documents into the index and keeps it in step with their sources.

Each document is written in one transaction, so that an interruption at any point leaves an index
that can be searched, and the next run goes on from there. In an index file readers see a document at once, by its words until
its vectors are there; in a shared index they see all documents of an ingestion when it is whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING

import structlog

from agents.rag.index.contract import DocumentIndex, nobody_listens
from agents.rag.index.records import Stored
from agents.rag.ingest.embedding import embed_missing
from agents.rag.ingest.fetch import PageGone
from agents.rag.ingest.gone import gone_of, problems_of
from agents.rag.ingest.plan import Candidate, Plan, belongs_to, make_plan
from agents.rag.ingest.progress import OnProgress, Outcome, Progress, Summary, silent, summarise
from agents.rag.ingest.questions import digest_of, question_chunks, questions_of
from agents.rag.ingest.read import Cut, cut, read_candidate
from agents.rag.settings import RagSettings
from utils.errors import IngestFailed, ModelFailure, PlatformError

if TYPE_CHECKING:
    from utils.embeddings import Embedder

log = structlog.get_logger(__name__)

_CUTTER = 1
"""Raised when documents are parsed or cut differently than before, so that they are cut again."""


class Ingester:
    """Ingests into one index. Several may be started on the same index, in any process."""

    def __init__(self, index: DocumentIndex, settings: RagSettings, embedder: Embedder | None) -> None:
        self._index = index
        self._settings = settings
        self._embedder = embedder
        self._recipe = f"{_CUTTER}/{settings.chunk_tokens}"

    async def ingest(
        self,
        targets: Sequence[str],
        on_progress: OnProgress = silent,
        *,
        configured: bool = False,
        on_wait: Callable[[str], None] = nobody_listens,
    ) -> Summary:
        """Bring the index in step with files, folders and URLs.

        Unchanged documents are left alone, vanished ones removed, broken ones skipped with a sentence.

        Args:
            targets: The files, folders and URLs.
            on_progress: Called with each report.
            configured: These are all that the settings name: documents of what they named before go,
                unless they were ingested by hand too.
            on_wait: Called with the name of the machine whose ingestion is waited for.

        Raises:
            StorageError: The index cannot be written.
        """
        async with self._index.ingesting(on_wait):
            summary = await self.read(targets, on_progress, configured=configured)
            await self._embed(0)
            await self._index.publish(self._embedder.name if self._embedder else "")
        return summary

    async def read(
        self, targets: Sequence[str], on_progress: OnProgress = silent, *, configured: bool = False
    ) -> Summary:
        """The first part of `ingest`, for one who holds the index and publishes it: documents whose vectors failed have none."""
        plan = await asyncio.to_thread(make_plan, targets)
        known = {stored.location: stored for stored in await self._index.pending()}
        events: list[Progress] = []
        async for event in self._run(plan, known, configured):
            events.append(event)
            on_progress(event)
        return summarise(events)

    async def remove(self, targets: Sequence[str]) -> Summary:
        """Remove the documents of these files, folders, URLs or names from the index."""
        known = {stored.location: stored for stored in await self._index.documents()}
        known |= {stored.location: stored for stored in await self._index.pending()}
        chosen = [
            s.location
            for s in known.values()
            if s.source in targets or any(belongs_to(s.location, t) for t in targets)
        ]
        return Summary(removed=await self._index.remove(chosen))

    async def _run(self, plan: Plan, known: dict[str, Stored], configured: bool) -> AsyncIterator[Progress]:
        gone = await asyncio.to_thread(gone_of, plan, known)
        removed = await self._index.settle(plan.holds, gone, configured=configured)
        problems = problems_of(plan, known)
        total = len(plan.candidates) + len(removed) + len(problems)
        done = 0
        yield Progress(done, total, "", Outcome.STARTED)
        for target, problem in problems:
            done += 1
            yield Progress(done, total, target, Outcome.SKIPPED, problem)
        for name in removed:
            done += 1
            yield Progress(done, total, name, Outcome.REMOVED)
        for candidate in plan.candidates:
            outcome, message = await self._one(candidate, known.get(candidate.location))
            done += 1
            yield Progress(done, total, candidate.name, outcome, message)

    async def _one(self, candidate: Candidate, known: Stored | None) -> tuple[Outcome, str]:
        try:
            raw = await read_candidate(candidate, self._settings)
            if known and (known.hash, known.recipe) == (raw.digest, self._recipe_of(candidate)):
                return Outcome.UNCHANGED, ""
            made = await asyncio.to_thread(cut, raw, candidate.name, self._settings)
        except PageGone as error:
            return await self._drop(candidate, known, error.message)
        except IngestFailed as error:
            return _skipped(candidate, error.message)
        except (PlatformError, MemoryError):  # no document's fault
            raise
        except Exception as error:  # noqa: BLE001 - one document: what its bytes do to a parser ends here
            return _skipped(candidate, f"cannot be read ({type(error).__name__})")
        if not made.chunks:
            return await self._drop(candidate, known, "is empty")
        await self._write(candidate, made, raw.digest)
        return (Outcome.UPDATED if known else Outcome.ADDED), ""

    async def _drop(self, candidate: Candidate, known: Stored | None, reason: str) -> tuple[Outcome, str]:
        if known:
            await self._index.remove([candidate.location])
            return Outcome.REMOVED, f"{candidate.name} {reason}."
        return _skipped(candidate, reason)

    async def _write(self, candidate: Candidate, made: Cut, digest: str) -> None:
        before = await self._index.last_id()
        questions = questions_of(candidate.name, candidate.path)
        await self._index.put(
            candidate.location,
            candidate.name,
            made.document,
            chunks=[*made.chunks, *question_chunks(questions, made.chunks)],
            digest=digest,
            recipe=self._recipe_of(candidate),
        )
        await self._embed(before)

    def _recipe_of(self, candidate: Candidate) -> str:
        digest = digest_of(questions_of(candidate.name, candidate.path))
        return f"{self._recipe}/{digest}" if digest else self._recipe

    async def _embed(self, after: int) -> None:
        if self._embedder is None:
            return
        try:
            await embed_missing(self._index, self._embedder, after)
        except ModelFailure as error:
            log.warning("rag.embedding_failed", code=error.code, effect="words only until the next ingestion")
            self._embedder = None


def _skipped(candidate: Candidate, reason: str) -> tuple[Outcome, str]:
    return Outcome.SKIPPED, f"{candidate.name} {reason}."

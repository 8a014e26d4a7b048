"""What the agent can look up: search, one document, the list of documents. Results for a model to read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import structlog

from utils.embeddings.cache import unstored
from utils.errors import ModelFailure, PlatformError, RetrievalFailed
from utils.messages.results import Article, Articles, Items, Record
from utils.messages.sentences import aimed, leaning, questions, sentences

if TYPE_CHECKING:
    from agents.rag.index.contract import DocumentIndex
    from agents.rag.index.ranking import Passage
    from agents.rag.index.sections import Text
    from agents.rag.index.vectors import Vector
    from utils.embeddings import Embedder

log = structlog.get_logger(__name__)

_WHOLE_CHARACTERS = 100_000
"""Characters of a document that are returned at once; sections of a larger one are asked for by anchor."""
_LISTED = 200
"""Documents listed at once."""
_SUGGESTED = 5
_WHOLE_SECTIONS = 2
"""Sections of a search, the best ones, that are returned whole: a passage is often the half before the code or the table that answers."""
_LONGEST_SECTION = 6_000
"""Characters of a section that is returned whole; of a longer one its passages are."""
_OWN = 0.6
"""Share of a part's own words in its vector against the whole query's."""


def _no_remark() -> str:
    return ""


class Library:
    """Answers from one index. Safe for any number of requests at once."""

    def __init__(
        self,
        index: DocumentIndex,
        embedder: Embedder | None,
        missing: Callable[[], str] = _no_remark,
        words_only: Callable[[], str] = _no_remark,
    ) -> None:
        """Look up in `index`.

        Args:
            index: The documents.
            embedder: Makes the query's vector; words alone are compared without it.
            missing: Says which documents are still missing from the index; empty when none are.
            words_only: Says why only words can be compared now; empty when vectors can be compared too.
        """
        self._index = index
        self._embedder = unstored(embedder)  # queries are what people ask
        self._missing = missing
        self._words_only = words_only

    async def search(self, query: str, limit: int) -> Articles:
        """The best passages for a query, most relevant first.

        Where the query asks several things, each is searched for too: a passage that was found for it has its words, with
        the passage's score for them, under `parts` in its metadata. The best two sections come whole, in place of their passages. A word
        that no passage has, and that is one typing error from a word of them, is searched for as that word.

        Raises:
            RetrievalFailed: The index cannot be searched.
        """
        query = aimed(query)
        parts = questions(query)
        read, *read_parts = [await self._index.mended(text) for text in (query, *leaning(parts))]
        whole, own, remark = await self._vectors(read, read_parts)
        rankings = {"": await self._find(read, whole, limit)}
        for part, words, vectors in zip(parts, read_parts, own, strict=True):
            rankings[part] = await self._find(words, vectors, limit)
        articles = await self._with_whole_sections(_articles(rankings, limit))
        remarks = [] if articles else ["No passage in the documents matches."]
        note = " ".join(filter(None, [*remarks, remark, self._missing()]))
        return Articles(articles=articles, note=note or None)

    async def _find(self, query: str, vectors: Sequence[Vector], limit: int) -> list[Passage]:
        model = self._embedder.name if self._embedder else ""
        return await self._index.search(query, limit, model=model, vectors=vectors)

    async def _with_whole_sections(self, articles: Sequence[Article]) -> list[Article]:
        """The passages, those of the best sections as one with the section's own text."""
        best = [url for url in dict.fromkeys(each.url for each in articles) if "#" in url][:_WHOLE_SECTIONS]
        kept = list(articles)
        for url in best:
            found = await self._index.find_text(url)
            if found is None or not 0 < len(found.own) <= _LONGEST_SECTION:
                continue
            passages = [each for each in kept if each.url == url]
            at = kept.index(passages[0])
            kept = [each for each in kept if each.url != url]
            kept.insert(at, _joined(passages, found.own))
        return kept

    async def document(self, source: str) -> Record | Items:
        """A document or section by name, or the names that come closest.

        Raises:
            RetrievalFailed: The index cannot be read.
        """
        found = await self._index.find_text(source)
        if found is not None:
            return _record(found)
        rows = await self._index.closest_sources(source, _SUGGESTED)
        note = "There is no document of that name." + (" These come closest." if rows else "")
        return Items(
            kind="documents", items=[{"source": name, "title": title} for name, title in rows], note=note
        )

    async def sources(self) -> Items:
        """Every document by name.

        Raises:
            RetrievalFailed: The index cannot be read.
        """
        try:
            documents = await self._index.documents()
        except PlatformError as error:
            raise RetrievalFailed("The document index could not be read.") from error
        rows = [{"source": d.source, "title": d.title, "passages": d.passages} for d in documents[:_LISTED]]
        more = f"{_LISTED} of {len(documents)} documents." if len(documents) > _LISTED else ""
        note = " ".join(filter(None, [more, self._missing()]))
        return Items(kind="documents", items=rows, total=len(documents), note=note or None)

    async def _vectors(
        self, query: str, parts: Sequence[str]
    ) -> tuple[Sequence[Vector], Sequence[Sequence[Vector]], str]:
        """Those of the query and its sentences, those of each part, and a remark where there are none."""
        none = [()] * len(parts)
        if self._embedder is None or not query.strip():
            return (), none, ""
        if remark := self._words_only():
            return (), none, remark
        try:
            vectors = list(await self._embedder.embed([*parts, query, *sentences(query)]))
        except ModelFailure as error:
            log.warning("rag.query_embedding_failed", code=error.code)
            return (), none, "Only words were compared, since the embedding model did not answer."
        whole = vectors[len(parts) :]
        return whole, [[_leaning(vector, whole[0])] for vector in vectors[: len(parts)]], ""


def _leaning(part: Vector, whole: Vector) -> Vector:
    """The vector of a part, drawn towards the whole query: "does it leave files behind?" tells of what only with the rest."""
    leaning = _OWN * part + (1 - _OWN) * whole
    return cast("Vector", (leaning / (leaning @ leaning) ** 0.5).astype(part.dtype))


def _articles(rankings: Mapping[str, Sequence[Passage]], limit: int) -> list[Article]:
    """Passages of the query, under "", and of its parts in turn until there are enough, best first."""
    found: dict[int, Passage] = {}
    scores: dict[int, dict[str, float]] = {}
    for rank in range(limit):
        for asked, passages in rankings.items():
            if rank < len(passages):
                passage = passages[rank]
                if len(found) < limit or passage.chunk_id in found:
                    found.setdefault(passage.chunk_id, passage)
                    scores.setdefault(passage.chunk_id, {})[asked] = passage.score
    best = sorted(found.values(), key=lambda each: -max(scores[each.chunk_id].values()))
    return [_article(each, scores[each.chunk_id]) for each in best]


def _article(passage: Passage, scores: Mapping[str, float]) -> Article:
    address = f"{passage.source}#{passage.anchor}" if passage.anchor else passage.source
    metadata: dict[str, object] = {"source": passage.source, "heading": " > ".join(passage.heading)}
    if passage.asked:
        metadata["asked"] = passage.asked
    if passage.similarity is not None:
        metadata["similarity"] = round(passage.similarity, 3)
    if parts := {part: round(score, 4) for part, score in scores.items() if part}:
        metadata["parts"] = parts
    return Article(
        title=passage.title,
        url=address,
        content=passage.text,
        score=round(max(scores.values()), 4),
        metadata=metadata,
    )


def _joined(passages: Sequence[Article], text: str) -> Article:
    """The passages of one section as one, with the section's text."""
    parts: dict[str, float] = {}
    for each in passages:
        for part, score in (each.metadata.get("parts") or {}).items():
            parts[part] = max(score, parts.get(part, score))
    best = passages[0]
    metadata = {**best.metadata, **({"parts": parts} if parts else {})}
    return best.model_copy(update={"content": text, "metadata": metadata})


def _record(found: Text) -> Record:
    address = f"{found.source}#{found.anchor}" if found.anchor else found.source
    item: dict[str, object] = {"title": found.title, "text": found.text[:_WHOLE_CHARACTERS]}
    note = None
    if len(found.text) > _WHOLE_CHARACTERS:
        item["sections"] = [f"{found.source}#{anchor}" for anchor, _ in found.sections]
        note = f"The first {_WHOLE_CHARACTERS:,} of {len(found.text):,} characters. Ask for a section by its name."
    return Record(kind="document", item=item, note=note, source=address)

"""How well the RAG agent's search finds answers: hit@1 and hit@5 over Python's own FAQ, by both of its indexes.

    python -m tests.eval.retrieval

The index in a file comes first, then the one in PostgreSQL, on a server that is started for this and ends with it.

Corpus: the FAQ, the HOWTOs and the tutorial of Debian's `python3.11-doc`, through the real loader,
cutter, index and search. They have 669 sections with text, which are cut into about 1,650 passages.
Queries: the 175 headings of the FAQ that are questions, word for word.
A hit at n: the section under that heading is among the n best sections, a section standing where the
best of its passages stands.

Two settings, because the query is the heading:

- `headings`: the index as the product makes it, headings included. This is what a user gets who asks
  in the words of a heading, or nearly so.
- `no headings`: the questions' own headings are left out of the index (text, heading path, vector), so
  that only the answers' text can match. This is the hard one: many answers begin with "Yes." and do
  not repeat what was asked, so that 1.0 is out of reach. Anchors, which are made from the headings,
  are never searched.

`rank fusion` is the textbook method (reciprocal rank, constant 60) over the same two rankings, for
comparison with what the search does. Earlier figures for the same questions over 680 sections (words
0.771, vectors 0.806, fused 0.857) seem to come from plain page text, headings and the pages' tables
of contents included; the loader leaves tables of contents out, since they compete with what they list.

The package is fetched by `apt-get download` (no root needed) into `.cache/` and embedded once, which
takes about four minutes on two cores; later runs take twenty seconds.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agents.rag.agent import RagAgent
from agents.rag.index.contract import DocumentIndex
from agents.rag.index.embedded import EmbeddedIndex
from agents.rag.index.postgres.index import PostgresIndex
from agents.rag.ingest.chunk import Chunk, chunk_document
from agents.rag.ingest.embedding import embed_missing
from agents.rag.ingest.html import parse_html
from tests.eval.retrieval_corpus import CACHE, CorpusMissingError, fetch_corpus
from tests.postgres import running_server
from utils.embeddings import Embedder, create_embedder
from utils.settings import EmbeddingSettings

FOLDERS = ("faq", "howto", "tutorial")
CHUNK_TOKENS = 220
"""The default of RAG_CHUNK_TOKENS."""
RANK_CONSTANT = 60
_DEPTH = 50
SETTINGS = ("headings", "no headings")

Section = tuple[str, str]
"""Document and anchor."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query and the section that answers it."""

    text: str
    answer: Section


@dataclass(frozen=True, slots=True)
class Score:
    """Shares of the questions, from 0 to 1."""

    index: str
    setting: str
    method: str
    hit_at_1: float
    hit_at_5: float


Ranker = Callable[[str], Awaitable[Sequence[Section]]]


async def build_index(index: DocumentIndex, corpus: Path, *, headings: bool) -> list[Question]:
    """Index the corpus; the questions come in the order of the pages."""
    questions: list[Question] = []
    for page in sorted(page for folder in FOLDERS for page in (corpus / folder).glob("*.html")):
        name = page.relative_to(corpus).as_posix()
        document = parse_html(page.read_text(encoding="utf-8"), name)
        chunks = chunk_document(document, CHUNK_TOKENS)
        asked = {chunk.anchor: chunk.path[-1] for chunk in chunks if _is_question(name, chunk)}
        questions += [Question(text, (name, anchor)) for anchor, text in asked.items()]
        if not headings:
            chunks = [replace(c, path=c.path[:-1]) if c.anchor in asked else c for c in chunks]
        await index.put(name, name, document, chunks=chunks, digest="", recipe="")
    await index.publish()
    return questions


async def evaluate(
    name: str, setting: str, questions: Sequence[Question], rankers: dict[str, Ranker]
) -> list[Score]:
    """Score each method over all questions."""
    scores = []
    for method, rank in rankers.items():
        ranked = [(question.answer, await rank(question.text)) for question in questions]
        hits = [sum(answer in found[:n] for answer, found in ranked) / len(ranked) for n in (1, 5)]
        scores.append(Score(name, setting, method, *hits))
    return scores


def rankers(index: DocumentIndex, embedder: Embedder) -> dict[str, Ranker]:
    """The methods, each from a query to sections, best first."""

    async def words(query: str) -> list[Section]:
        return await _sections(index, query, None)

    async def vectors(query: str) -> list[Section]:
        return await _sections(index, query, embedder, words=False)

    async def rank_fusion(query: str) -> list[Section]:
        scores: dict[Section, float] = {}
        for ranking in (await words(query), await vectors(query)):
            for rank, section in enumerate(ranking, start=1):
                scores[section] = scores.get(section, 0) + 1 / (RANK_CONSTANT + rank)
        return sorted(scores, key=lambda section: -scores[section])

    async def fused(query: str) -> list[Section]:
        return await _sections(index, query, embedder)

    return {"words": words, "vectors": vectors, "rank fusion": rank_fusion, "fused": fused}


def _is_question(name: str, chunk: Chunk) -> bool:
    return name.startswith("faq/") and bool(chunk.path) and chunk.path[-1].endswith("?")


async def _sections(
    index: DocumentIndex, query: str, embedder: Embedder | None, *, words: bool = True
) -> list[Section]:
    vectors = list(embedder.embed_sync([query])) if embedder else []
    model = embedder.name if embedder else ""
    found = await index.search(query, _DEPTH, model=model, vectors=vectors, words=words)
    return list(dict.fromkeys((passage.source, passage.anchor) for passage in found))


async def measure(
    name: str, setting: str, index: DocumentIndex, corpus: Path, embedder: Embedder
) -> list[Score]:
    """Index the corpus in an empty index and evaluate it."""
    questions = await build_index(index, corpus, headings=setting == SETTINGS[0])
    await embed_missing(index, embedder)
    return await evaluate(name, setting, questions, rankers(index, embedder))


async def measure_both(corpus: Path, embedder: Embedder) -> list[Score]:
    """Evaluate both indexes in both settings."""
    scores: list[Score] = []
    for setting in SETTINGS:
        with tempfile.TemporaryDirectory() as folder:
            index = EmbeddedIndex(Path(folder) / "index.sqlite")
            await index.open()
            scores += await measure("file", setting, index, corpus, embedder)
    with running_server() as server:
        for setting in SETTINGS:
            async with server.opened(RagAgent.name, RagAgent.own_tables) as pool:
                scores += await measure("PostgreSQL", setting, PostgresIndex(pool), corpus, embedder)
    return scores


def main() -> int:
    """Print the table. Returns 1 with one sentence when the corpus cannot be had."""
    try:
        corpus = fetch_corpus()
    except CorpusMissingError as error:
        print(error, file=sys.stderr)
        return 1
    embedder = create_embedder(EmbeddingSettings(), cache=CACHE / "embeddings")
    assert embedder is not None
    print(f"{'index':<12} {'setting':<12} {'method':<14} hit@1  hit@5")
    for score in asyncio.run(measure_both(corpus, embedder)):
        print(
            f"{score.index:<12} {score.setting:<12} {score.method:<14} {score.hit_at_1:.3f}  {score.hit_at_5:.3f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

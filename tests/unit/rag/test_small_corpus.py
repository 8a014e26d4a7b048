"""Retrieval with the embedded model over a small corpus of our own: a floor that must not sink.

The larger measure is `python -m tests.eval.retrieval`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.rag.index.embedded import EmbeddedIndex
from agents.rag.index.store import Store
from agents.rag.ingest.ingester import Ingester
from agents.rag.retrieve.library import Library
from agents.rag.settings import RagSettings
from utils.embeddings.minilm import MiniLmEmbedder

CORPUS = """# Harbour service handbook

## Signing in

Every person has one account. A forgotten password is replaced through the link on the first page; the link is good
for an hour. After five wrong attempts the account rests for ten minutes.

## Backups

The database is copied each night at two. Copies are kept for thirty days in another region. To bring one back, stop
the writers, run `harbour restore DATE`, and start them again.

## Scaling out

Add replicas when the queue is longer than a hundred jobs for five minutes. Replicas share nothing but the database, so
any of them can take any job.

## Certificates

Certificates renew themselves thirty days before they expire. When a renewal fails twice, the person on call is paged.

## Costs

| size | monthly price |
|---|---|
| small | 40 |
| large | 310 |

## Deleting data

A customer's records are erased within seven days of the request, copies included once they age out.

## On call

One engineer is on call for a week, from Monday noon. Handover is a short talk and a written list of what is open.

## Network

Only port 443 is open to the world. Between services traffic is encrypted, and each service names the ones it may call.
"""

QUESTIONS = {
    "I can't remember my password, what now?": "signing-in",
    "How do I recover the database from last Tuesday?": "backups",
    "When should we run more instances?": "scaling-out",
    "TLS expiry": "certificates",
    "How expensive is the large plan?": "costs",
    "A client wants all of their personal information removed": "deleting-data",
    "Who gets woken up at night and for how long is the shift?": "on-call",
    "Which firewall rules are there?": "network",
    "harbour restore": "backups",
    "too many login failures": "signing-in",
}
STRANGE = ("How do I bake sourdough bread?", "Who won the world cup in 2018?", "Recommend a film for tonight")


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder()


async def library(folder: Path, embedder: MiniLmEmbedder | None) -> Library:
    (folder / "handbook.md").write_text(CORPUS)
    store = Store(folder / "index.sqlite")
    await Ingester(EmbeddedIndex(store.path), RagSettings(), embedder).ingest([str(folder / "handbook.md")])
    return Library(EmbeddedIndex(store.path), embedder)


async def first(library: Library, question: str) -> str:
    articles = (await library.search(question, 3)).articles
    return articles[0].url if articles else ""


async def test_questions_find_their_section_first(tmp_path: Path, embedder: MiniLmEmbedder) -> None:
    books = await library(tmp_path, embedder)
    right = [await first(books, q) == f"handbook.md#{anchor}" for q, anchor in QUESTIONS.items()]
    assert sum(right) >= 9, [q for q, ok in zip(QUESTIONS, right, strict=True) if not ok]


async def test_words_alone_find_what_shares_words(tmp_path: Path) -> None:
    books = await library(tmp_path, None)
    for query, anchor in {
        "forgotten password": "signing-in",
        "harbour restore": "backups",
        "monthly price": "costs",
        "When do certificates expire?": "certificates",
    }.items():
        assert await first(books, query) == f"handbook.md#{anchor}"
    assert await first(books, "sourdough") == ""


@pytest.mark.parametrize("question", STRANGE)
async def test_questions_about_something_else_find_nothing_and_say_so(
    tmp_path: Path, embedder: MiniLmEmbedder, question: str
) -> None:
    result = await (await library(tmp_path, embedder)).search(question, 5)
    assert result.articles == []
    assert result.note == "No passage in the documents matches."


async def test_each_of_several_things_that_are_asked_is_searched_for(
    tmp_path: Path, embedder: MiniLmEmbedder
) -> None:
    books = await library(tmp_path, embedder)
    parts = ("When do certificates expire", "what do I do about a forgotten password?")
    for found in (
        await books.search(" and ".join(parts), 3),
        await (await library(tmp_path, None)).search(" and ".join(parts), 3),
    ):
        best = [
            max(found.articles, key=lambda each: each.metadata.get("parts", {}).get(part, 0))
            for part in parts
        ]
        assert [each.url for each in best] == ["handbook.md#certificates", "handbook.md#signing-in"]
        assert len(found.articles) <= 3

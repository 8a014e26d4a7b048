"""Search by words and vectors, over one file that other processes write too."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.rag.index.embedded import EmbeddedIndex
from agents.rag.index.fuse import fuse
from agents.rag.index.lexical import coverage, match_expression
from agents.rag.index.passage_text import passage_text
from agents.rag.index.read import find_text
from agents.rag.index.search import Searcher
from agents.rag.index.store import Store
from agents.rag.ingest.ingester import Ingester
from agents.rag.retrieve.library import Library
from agents.rag.settings import RagSettings
from tests.unit.rag.conftest import WordEmbedder
from utils.errors import RetrievalFailed
from utils.messages.results import Record


def found(searcher: Searcher, query: str, embedder: WordEmbedder | None = None) -> list[str]:
    if embedder is None:
        return [passage.source for passage in searcher.search(query, 5)]
    vectors = list(embedder.embed_sync([query]))
    return [p.source for p in searcher.search(query, 5, model=embedder.name, vectors=vectors)]


async def test_words_and_vectors_are_both_searched(
    ingester: Ingester, store: Store, notes: Path, embedder: WordEmbedder
) -> None:
    await ingester.ingest([str(notes)])
    best = Searcher(store.path).search(
        "are apples red?", 5, model=embedder.name, vectors=list(embedder.embed_sync(["apples are red"]))
    )[0]
    assert (best.source, best.title, best.heading, best.anchor) == (
        "notes/alpha.md",
        "Alpha",
        ("Apples",),
        "apples",
    )
    assert best.score == pytest.approx(1)
    assert best.similarity is not None
    assert best.similarity > 0.5


async def test_an_open_searcher_sees_what_is_ingested_and_removed_later(
    ingester: Ingester, store: Store, notes: Path, embedder: WordEmbedder
) -> None:
    searcher = Searcher(store.path)
    assert found(searcher, "bananas", embedder) == []
    await ingester.ingest([str(notes)])
    assert found(searcher, "bananas", embedder) == ["notes/beta.md"]
    await ingester.remove([str(notes)])
    assert found(searcher, "bananas", embedder) == []


async def test_vectors_of_another_model_are_never_compared(
    ingester: Ingester, store: Store, notes: Path
) -> None:
    await ingester.ingest([str(notes)])
    passages = Searcher(store.path).search(
        "bananas", 5, model="other", vectors=list(WordEmbedder().embed_sync(["bananas"]))
    )
    assert [(p.source, p.similarity) for p in passages] == [("notes/beta.md", None)]


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "* OR NEAR(",
        "title:x",
        "a AND",
        "🙂",
        "",
        "   ",
        "the of and",
        "x" * 5000,
        "' --",
        "\0",
        "-bananas",
    ],
)
async def test_no_query_breaks_the_search(ingester: Ingester, store: Store, notes: Path, query: str) -> None:
    await ingester.ingest([str(notes)])
    searcher = Searcher(store.path)
    assert set(found(searcher, query)) <= {"notes/alpha.md", "notes/beta.md"}
    assert found(searcher, "bananas") == ["notes/beta.md"]


async def test_one_long_section_does_not_fill_the_result(
    store: Store, tmp_path: Path, embedder: WordEmbedder
) -> None:
    (tmp_path / "long.md").write_text(
        "# Long\n\n" + "\n\n".join(f"Mango number {n}. " * 30 for n in range(20))
    )
    (tmp_path / "short.md").write_text("# Short\n\nOne mango.")
    await Ingester(EmbeddedIndex(store.path), RagSettings(), embedder).ingest(
        [str(tmp_path / "long.md"), str(tmp_path / "short.md")]
    )
    assert sorted(found(Searcher(store.path), "mango", embedder)) == ["long.md", "long.md", "short.md"]


def test_a_missing_index_is_an_error_not_an_empty_result(tmp_path: Path) -> None:
    with pytest.raises(RetrievalFailed, match="could not be searched"):
        Searcher(tmp_path / "none.sqlite").search("x", 1)


def test_stop_words_are_searched_only_when_there_is_nothing_else() -> None:
    assert match_expression("How do I restart the API?") == '"restart" OR "api"'
    assert match_expression("to be or not to be") == '"not"'
    assert match_expression("what is it") == '"what" OR "is" OR "it"'
    assert match_expression("?!") is None


def test_coverage_is_blind_to_endings() -> None:
    assert coverage("restarting servers", "Restart the server.") == 1
    assert coverage("bread recipes", "Restart the server.") == 0


def test_fusing_puts_first_what_both_like() -> None:
    assert [id_ for id_, _ in fuse({1: 5.0, 2: 4.9}, {2: 0.8, 3: 0.81})] == [2, 3, 1]
    assert fuse({1: 2.0, 2: 1.0}, {}) == [(1, 1.0), (2, 0.5)]
    assert fuse({}, {7: 0.5}) == [(7, 1.0)]
    assert fuse({}, {}) == []
    assert fuse({}, {1: -0.1}) == [(1, 0.0)]


def test_a_vector_is_made_without_addresses_and_table_rules() -> None:
    text = passage_text("T", "A\nB", "See [the guide](https://x.y/z(1)).\n| a |\n| --- |\n| 1 |")
    assert text.startswith("T. A. B\nSee [the guide]")
    assert "https" not in text
    assert "---" not in text


async def test_a_section_is_read_with_those_below_it(
    ingester: Ingester, store: Store, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("# A\n\n## One\n\nfirst\n\n### Deep\n\nsecond\n\n## Two\n\nthird\n")
    await ingester.ingest([str(tmp_path / "a.md")])
    texts = {}
    for name in ("a.md#one", "a.md#deep", "a.md#two", "A", "./a.md#unknown"):
        found = find_text(store.path, name)
        assert found is not None
        texts[name] = found.text
    whole = "# A\n\n## One\n\nfirst\n\n### Deep\n\nsecond\n\n## Two\n\nthird"
    assert texts == {
        "a.md#one": "first\n\n### Deep\n\nsecond",
        "a.md#deep": "second",
        "a.md#two": "third",
        "A": whole,
        "./a.md#unknown": whole,
    }
    assert find_text(store.path, "b.md") is None


async def test_a_document_too_long_for_one_answer_names_its_sections(
    ingester: Ingester, store: Store, tmp_path: Path
) -> None:
    (tmp_path / "big.md").write_text("# Big\n\n## One\n\n" + "words " * 20_000 + "\n\n## Two\n\nend\n")
    await ingester.ingest([str(tmp_path / "big.md")])
    record = await Library(EmbeddedIndex(store.path), None).document("big.md")
    assert isinstance(record, Record)
    assert len(record.item["text"]) == 100_000
    assert record.item["sections"] == ["big.md#one", "big.md#two"]
    assert str(record.note).startswith("The first 100,000 of 120,")


async def test_a_question_with_a_typing_error_finds_by_words_and_by_meaning_what_was_meant(
    ingester: Ingester, store: Store, notes: Path, embedder: WordEmbedder
) -> None:
    await ingester.ingest([str(notes)])
    for asked in ("bannanas", "apples are red? and where are bannanas?"):
        for each in (embedder, None):
            found = await Library(EmbeddedIndex(store.path), each).search(asked, 5)
            assert "notes/beta.md" in [article.metadata["source"] for article in found.articles]
    assert any("bannanas" in part for a in found.articles for part in a.metadata.get("parts", ()))


async def test_a_question_about_things_of_the_one_before_it_is_searched_for_with_their_words(
    ingester: Ingester, store: Store, tmp_path: Path
) -> None:
    for name, text in {
        "kept": "Conversations are kept for ever.",
        "delete": "Long conversations that are kept: delete.",
        "other": "I can carry one of them by hand.",
    }.items():
        (tmp_path / f"{name}.md").write_text(f"# {name.title()}\n\n{text}\n", encoding="utf-8")
    await ingester.ingest([str(tmp_path)])
    asked = "How long are conversations kept, and can I delete one of them by hand?"
    found = await Library(EmbeddedIndex(store.path), None).search(asked, 5)
    scores = {
        a.title: (a.metadata.get("parts") or {}).get("can I delete one of them by hand?", 0.0)
        for a in found.articles
    }
    assert scores["Delete"] > scores["Other"]

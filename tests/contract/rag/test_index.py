"""What every index of documents does, in a file, in PostgreSQL, and in PostgreSQL with pgvector."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np

from agents.rag.index.contract import DocumentIndex
from agents.rag.ingest.embedding import texts_of
from agents.rag.ingest.ingester import Ingester
from agents.rag.settings import RagSettings
from tests.contract.rag.indexes import APPLES, found, put, show
from tests.unit.rag.conftest import WordEmbedder


async def sources(index: DocumentIndex) -> list[str]:
    return [document.source for document in await index.documents()]


async def test_a_passage_is_found_by_its_words_and_by_its_vector(
    index: DocumentIndex, embedder: WordEmbedder
) -> None:
    await put(index)
    await show(index, embedder)
    assert (await found(index, "Are pears green?"))[0] == "Pears are green."
    (best, *_) = await index.search(
        "", 3, model=embedder.name, vectors=list(embedder.embed_sync(["pears green"])), words=False
    )
    assert (best.source, best.title, best.heading, best.anchor, best.text) == (
        "notes/fruit.md",
        "Fruit",
        ("Pears",),
        "pears",
        "Pears are green.",
    )
    assert best.similarity is not None
    assert 0.5 < best.similarity <= 1


async def test_any_of_the_words_counts_and_a_word_is_found_in_its_other_forms(index: DocumentIndex) -> None:
    await put(index, "# Notes\n\nThe backups are kept for thirty days.\n")
    await put(index, "# Other\n\nÀ la carte: utils/errors.py, MAX_TURNS=4.\n", location="/b", source="b.md")
    await index.publish()
    for query in ("backup", "keep a zebra's backup", "DAYS"):
        assert (await found(index, query))[0].startswith("The backups"), query
    for query in ("errors", "max_turns", "a la carte", "CARTE", "utils errors"):
        assert (await found(index, query))[0].startswith("À la"), query
    for query in ("", "zebra", "' OR 1=1 --", "!!! & | :* <->", "\0"):
        assert await found(index, query) == [], query


async def test_a_question_leads_to_the_passage_that_answers_it(
    index: DocumentIndex, embedder: WordEmbedder
) -> None:
    await put(index, "# Pay\n\nMonthly.\n", questions=["When do I get my salary?"])
    await show(index, embedder)
    (best,) = await index.search(
        "salary", 3, model=embedder.name, vectors=list(embedder.embed_sync(["When do I get my salary?"]))
    )
    assert (best.text, best.asked) == ("Monthly.", "When do I get my salary?")
    assert [document.passages for document in await index.documents()] == [1]


async def test_a_document_that_is_put_again_takes_the_place_of_the_first(
    index: DocumentIndex, embedder: WordEmbedder
) -> None:
    await put(index)
    await show(index, embedder)
    await put(index, APPLES.replace("green", "yellow"))
    await put(index, APPLES.replace("green", "brown"))
    await show(index, embedder)
    assert await sources(index) == ["notes/fruit.md"]
    assert (await found(index, "pears", embedder))[0] == "Pears are brown."
    assert len(await found(index, "pears apples peel", embedder)) == 3


async def test_a_removed_document_is_gone_for_every_reader(
    index: DocumentIndex, embedder: WordEmbedder
) -> None:
    await put(index)
    await put(index, "# Other\n\nPears too.\n", location="/b", source="b.md")
    await show(index, embedder)
    assert await index.remove(["/notes/fruit.md", "/unknown"]) == 1
    assert await found(index, "pears", embedder) == ["Pears too."]
    assert await index.find_text("notes/fruit.md") is None
    assert await sources(index) == ["b.md"]


async def test_two_documents_of_one_name_are_told_apart(index: DocumentIndex) -> None:
    assert await put(index, location="/1", source="a.md") == "a.md"
    assert await put(index, location="/2", source="a.md") == "a~2.md"
    await index.publish()
    assert await put(index, location="/3", source="a.md") == "a~3.md"
    assert await put(index, location="/2", source="a.md") == "a~2.md"
    await index.publish()
    assert await sources(index) == ["a.md", "a~2.md", "a~3.md"]


async def test_a_document_goes_with_the_last_source_that_holds_it(index: DocumentIndex) -> None:
    for name in ("a", "b", "c"):
        await put(index, location=f"/{name}", source=f"{name}.md")
    assert await index.settle({"/set": ["/a", "/b"]}, [], configured=True) == []
    assert await index.settle({"/hand": ["/b", "/c"]}, [], configured=False) == []
    await index.publish()
    assert await index.settle({"/other": []}, [], configured=True) == ["a.md"]
    assert await index.settle({}, ["/c"], configured=True) == ["c.md"]
    await index.publish()
    assert await sources(index) == ["b.md"]


async def test_a_document_that_comes_back_before_it_went_stays(index: DocumentIndex) -> None:
    await put(index)
    await index.settle({"/notes": ["/notes/fruit.md"]}, [], configured=True)
    await index.publish()
    await index.settle({}, [], configured=True)
    assert await index.pending() == []
    await index.settle({"/notes": ["/notes/fruit.md"]}, [], configured=True)
    assert await put(index) == "notes/fruit.md"
    await index.publish()
    assert await sources(index) == ["notes/fruit.md"]


async def test_passages_without_a_vector_of_a_model_are_told_until_they_have_one(
    index: DocumentIndex, embedder: WordEmbedder
) -> None:
    await put(index)
    stale = await index.stale(embedder.name, 0, 2)
    assert texts_of(stale)[1].startswith("Fruit. Apples. Peel")
    assert await index.count_stale(embedder.name) == 3
    await index.put_vectors(
        embedder.name, [passage.chunk_id for passage in stale], embedder.embed_sync(["a", "b"])
    )
    assert [each.heading for each in await index.stale(embedder.name, 0, 9)] == ["Pears"]
    assert await index.count_stale(embedder.name, stale[-1].chunk_id) == 1
    assert await index.last_id() == stale[-1].chunk_id + 1
    await index.put_vectors(embedder.name, [10_000_000], np.ones((1, embedder.dimensions), dtype=np.float32))
    await show(index, WordEmbedder("another"))
    assert await index.count_stale(embedder.name) == 3
    assert await index.count_stale("another") == 0


async def test_documents_and_sections_are_read_back_by_name(index: DocumentIndex) -> None:
    await put(index)
    await index.publish()
    for name in ("notes/fruit.md", "./notes/fruit.md", "NOTES/fruit.md", "fruit.md", "fruit"):
        text = await index.find_text(name)
        assert text is not None, name
        assert (text.source, text.anchor, text.text.strip()) == ("notes/fruit.md", "", APPLES.strip())
    section = await index.find_text("fruit.md#apples")
    assert section is not None
    assert section.text.endswith("Peel it thinly.")
    assert "Pears" not in section.text
    assert section.sections == (("apples", "Apples"), ("peel", "Peel"), ("pears", "Pears"))
    assert await index.find_text("none.md") is None
    assert await index.closest_sources("notes/frut", 1) == [("notes/fruit.md", "Fruit")]


async def test_any_character_is_stored(index: DocumentIndex, embedder: WordEmbedder) -> None:
    text = "# Zero \0 title\n\nA \0 byte, \U0001f34e, and ünïcode.\n"
    await put(index, text, location="/\0ff/a.md")
    await index.settle({"/\0ff": ["/\0ff/a.md"]}, [], configured=True)
    await show(index, embedder)
    (document,) = await index.documents()
    assert document.location == "/\0ff/a.md"
    assert "\U0001f34e" in (await found(index, "byte ünïcode", embedder))[0]
    assert await index.remove(["/\0ff/a.md"]) == 1


async def test_ingestions_that_are_started_at_once_store_each_passage_once(
    index: DocumentIndex, tmp_path: Path
) -> None:
    for number in range(5):
        (tmp_path / f"n{number}.md").write_text(f"# N{number}\n\nNumber {number}.\n")
    ingester = Ingester(index, RagSettings(), WordEmbedder())
    await asyncio.gather(*(ingester.ingest([str(tmp_path / f"n{n}.md") for n in range(5)]) for _ in range(3)))
    assert len(await index.documents()) == 5
    assert sorted(await found(index, "number", WordEmbedder())) == [f"Number {n}." for n in range(5)]
    assert await index.count_stale(WordEmbedder().name) == 0


async def test_an_ingestion_that_ended_midway_goes_on_where_it_was(
    index: DocumentIndex, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nFruit of {name}.\n")
    held = asyncio.Event()

    class Held(WordEmbedder):
        async def embed(self, texts):
            if any("of b" in text for text in texts):
                held.set()
                await asyncio.Event().wait()
            return self.embed_sync(texts)

    targets = [str(tmp_path / "a.md"), str(tmp_path / "b.md")]
    task = asyncio.create_task(Ingester(index, RagSettings(), Held()).ingest(targets))
    await held.wait()
    task.cancel()
    await asyncio.wait([task])
    again = WordEmbedder()
    summary = await Ingester(index, RagSettings(), again).ingest(targets)
    assert (summary.unchanged, summary.added, len(again.embedded)) == (2, 0, 1)
    assert sorted(await found(index, "fruit", WordEmbedder())) == ["Fruit of a.", "Fruit of b."]


async def test_a_word_that_no_passage_has_is_read_as_the_one_that_was_meant(index: DocumentIndex) -> None:
    assert await index.mended("any bakup?") == "any bakup?"
    await put(index, "# Notes\n\nBackups are kept. Where should logs go?\n")
    await index.publish()
    assert (
        await index.mended("where should a Backpus of bananas go?") == "where should a backups of bananas go?"
    )
    assert await index.mended("backup, notes/bakcups.md") == "backup, notes/bakcups.md"
    await put(index, "# Fruit\n\nBananas.\n", location="/b", source="b.md")
    await index.publish()
    assert await index.mended("banannas") == "bananas"

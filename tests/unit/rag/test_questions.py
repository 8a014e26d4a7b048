"""The questions that people ask, kept beside the documents: complete, found, and used for no other document."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import pytest

from agents.rag.index.embedded import EmbeddedIndex
from agents.rag.index.read import find_text
from agents.rag.index.search import Searcher
from agents.rag.index.store import Store
from agents.rag.ingest.ingester import Ingester
from agents.rag.ingest.questions import questions_of, read_questions
from agents.rag.settings import RagSettings
from tests.unit.rag.conftest import WordEmbedder

FEWEST = 2
"""Questions of a section at least; a definition is asked for in few ways."""


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("index") / "index.sqlite")
    settings = RagSettings.load({})
    asyncio.run(Ingester(EmbeddedIndex(store.path), settings, None).ingest(settings.targets()))
    return store


def _sections(path) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        return set(
            connection.execute(
                "SELECT source, anchor FROM chunks JOIN documents ON documents.id = document_id"
                " WHERE chunks.id NOT IN (SELECT chunk_id FROM questions)"
            )
        )


def test_every_section_that_is_read_by_default_has_its_questions_and_no_question_names_another(index):
    asked = {
        (page, anchor): len(lines)
        for page, sections in read_questions().items()
        for anchor, lines in sections.items()
    }
    sections = _sections(index.path)
    assert sections - asked.keys() == set()
    assert asked.keys() - sections == set()
    assert [place for place, count in asked.items() if count < FEWEST] == []


def test_a_section_is_found_by_a_question_that_has_no_word_of_it(index):
    found = Searcher(index.path).search("may we ship a modified version internally", 3)
    assert found[0].anchor == "what-licence-is-it-under-and-may-i-change-it"
    assert found[0].asked == "may we ship a modified version internally?"
    assert "Apache License 2.0" in found[0].text


def test_a_question_is_no_passage_of_its_own(index):
    document = next(each for each in index.documents() if each.source == "docs/faq.md")
    text = find_text(index.path, "docs/faq.md#which-version-do-i-have")
    asked = sum(len(lines) for lines in read_questions()["docs/faq.md"].values())
    assert document.passages < asked / 3
    assert text is not None
    assert "am I on the latest release" not in text.text
    assert all(p.title for p in Searcher(index.path).search("am I on the latest release?", 9))


async def test_a_document_of_the_same_name_elsewhere_has_no_questions(tmp_path):
    page = tmp_path / "docs" / "faq.md"
    page.parent.mkdir()
    page.write_text("# Mine\n\n## Which version do I have?\n\nNone.\n", encoding="utf-8")
    assert questions_of("docs/faq.md", page) == {}
    store = Store(tmp_path / "index.sqlite")
    await Ingester(EmbeddedIndex(store.path), RagSettings.load({}), WordEmbedder()).ingest([str(page.parent)])
    with closing(sqlite3.connect(store.path)) as connection:
        assert connection.execute("SELECT count(*) FROM questions").fetchone() == (0,)


async def test_an_index_of_the_version_before_keeps_its_documents_and_gets_questions(tmp_path):
    path = tmp_path / "index.sqlite"
    page = tmp_path / "a.md"
    page.write_text("# A\n\nApples.\n", encoding="utf-8")
    await Ingester(EmbeddedIndex(Store(path).path), RagSettings.load({}), None).ingest([str(page)])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE questions")
    assert [document.title for document in Store(path).documents()] == ["A"]

"""The index follows its sources, and bad input costs one sentence, never the rest."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agents.rag.index.embedded import EmbeddedIndex
from agents.rag.index.schema import connect
from agents.rag.index.search import Searcher
from agents.rag.index.store import Store
from agents.rag.ingest.ingester import Ingester
from agents.rag.ingest.names import REPOSITORY
from agents.rag.ingest.progress import Outcome, Progress
from agents.rag.settings import RagSettings
from tests.unit.rag.conftest import WordEmbedder
from tests.unit.rag.pdf_bytes import pdf
from utils.errors import ModelUnavailable, StorageError


def names(store: Store) -> list[str]:
    return [document.source for document in store.documents()]


def consistent(store: Store) -> bool:
    """Whether passages, words and documents tell the same."""
    with connect(store.path) as connection:
        connection.execute("INSERT INTO words(words, rank) VALUES ('integrity-check', 1)")
        orphans = connection.execute(
            "SELECT count(*) FROM chunks WHERE document_id NOT IN (SELECT id FROM documents)"
        ).fetchone()[0]
        return orphans == 0 and not connection.execute("PRAGMA foreign_key_check").fetchall()


async def test_a_folder_is_ingested_under_its_own_name(ingester: Ingester, store: Store, notes: Path) -> None:
    summary = await ingester.ingest([str(notes)])
    assert str(summary) == "2 added, 0 updated, 0 unchanged, 0 removed, 0 skipped"
    assert names(store) == ["notes/alpha.md", "notes/beta.md"]


async def test_unchanged_files_are_skipped_and_not_embedded_again(
    ingester: Ingester, embedder: WordEmbedder, notes: Path
) -> None:
    await ingester.ingest([str(notes)])
    embedder.embedded.clear()
    (notes / "beta.md").write_text("# Beta\n\nBananas are green.\n")
    summary = await ingester.ingest([str(notes)])
    assert (summary.unchanged, summary.updated) == (1, 1)
    assert embedder.embedded == ["Beta\nBananas are green."]


async def test_deleted_files_are_removed_but_not_those_of_other_folders(
    ingester: Ingester, store: Store, notes: Path, tmp_path: Path
) -> None:
    other = tmp_path / "notes-2"
    other.mkdir()
    (other / "gamma.md").write_text("Cherries.")
    await ingester.ingest([str(notes), str(other)])
    (notes / "alpha.md").unlink()
    (other / "gamma.md").unlink()
    summary = await ingester.ingest([str(notes)])
    assert summary.removed == 1
    assert names(store) == ["notes-2/gamma.md", "notes/beta.md"]
    assert consistent(store)


async def test_a_missing_target_is_a_sentence_and_its_documents_are_removed(
    ingester: Ingester, store: Store, notes: Path
) -> None:
    await ingester.ingest([str(notes)])
    moved = notes.rename(notes.with_name("elsewhere"))
    summary = await ingester.ingest([str(notes), str(moved)])
    assert summary.problems == (f"{notes} does not exist; its 2 documents are removed.",)
    assert names(store) == ["elsewhere/alpha.md", "elsewhere/beta.md"]
    assert consistent(store)
    (moved / "beta.md").unlink()
    moved.joinpath("alpha.md").rename(moved / "gamma.md")
    assert (await ingester.ingest([str(moved / "gone.md")])).problems == (f"{moved}/gone.md does not exist.",)


async def test_bad_files_are_skipped_with_one_sentence_each(
    ingester: Ingester, store: Store, notes: Path
) -> None:
    (notes / "empty.md").write_bytes(b"\xef\xbb\xbf\r\n")
    (notes / "broken.pdf").write_bytes(b"%PDF-1.4 no")
    (notes / "binary.txt").write_bytes(b"\0\1\2")
    (notes / "picture.png").write_bytes(b"\x89PNG")
    (notes / "windows.txt").write_bytes("Größe\r\n".encode("utf-16"))
    (notes / "good.pdf").write_bytes(pdf(["Readable"]))
    summary = await ingester.ingest([str(notes)])
    assert summary.problems == (
        "notes/binary.txt is a binary file.",
        "notes/broken.pdf is not a readable PDF.",
        "notes/empty.md is empty.",
    )
    assert names(store)[2:] == ["notes/good.pdf", "notes/windows.txt"]


async def test_giant_files_are_skipped_unread(store: Store, notes: Path) -> None:
    with (notes / "giant.txt").open("wb") as file:
        file.truncate(10**12)
    (notes / "long.txt").write_text("word " * 20_000)
    summary = await Ingester(EmbeddedIndex(store.path), RagSettings(max_passages=50), None).ingest(
        [str(notes)]
    )
    assert summary.problems[0] == "notes/giant.txt is larger than 20,000,000 bytes."
    assert "passages, more than the 50 allowed" in summary.problems[1]


async def test_loops_hidden_folders_and_links_out_are_left_out(
    ingester: Ingester, store: Store, notes: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.md").write_text("outside")
    (notes / "loop").symlink_to(notes)
    (notes / "out.md").symlink_to(tmp_path / "secret.md")
    (notes / "same.md").symlink_to(notes / "beta.md")
    (notes / ".git").mkdir()
    (notes / ".git" / "config.md").write_text("hidden")
    os.mkfifo(notes / "pipe.md")
    (tmp_path / "elsewhere").mkdir()
    (notes / "folder").symlink_to(tmp_path / "elsewhere")
    (notes / "dead.md").symlink_to("no such file.md")
    summary = await ingester.ingest([str(notes)])
    assert names(store) == ["notes/alpha.md", "notes/beta.md"]
    leads_out = (
        "is a link that leads out of the folder, and was not read: ingest what it leads to by its own path."
    )
    assert set(summary.problems) == {
        f"notes/out.md {leads_out}",
        f"notes/folder {leads_out}",
        "notes/dead.md is a link that leads nowhere.",
    }


async def test_a_file_that_became_unreadable_keeps_its_last_good_text(
    ingester: Ingester, store: Store, notes: Path
) -> None:
    await ingester.ingest([str(notes)])
    (notes / "beta.md").write_bytes(b"\0binary now")
    assert (await ingester.ingest([str(notes)])).problems == ("notes/beta.md is a binary file.",)
    assert "notes/beta.md" in names(store)
    (notes / "beta.md").write_bytes(b"")
    assert (await ingester.ingest([str(notes)])).removed == 1
    assert names(store) == ["notes/alpha.md"]


async def test_two_files_of_one_name_are_told_apart(ingester: Ingester, store: Store, tmp_path: Path) -> None:
    for number in ("1", "2"):
        (tmp_path / number).mkdir()
        (tmp_path / number / "same.md").write_text(f"text {number}")
    await ingester.ingest([str(tmp_path / "1" / "same.md"), str(tmp_path / "2" / "same.md")])
    assert names(store) == ["same.md", "same~2.md"]


async def test_files_of_the_repository_are_named_from_its_root(ingester: Ingester, store: Store) -> None:
    await ingester.ingest([str(REPOSITORY / "AGENTS.md")])
    assert names(store) == ["AGENTS.md"]


async def test_removal_works_by_folder_and_by_name(ingester: Ingester, store: Store, notes: Path) -> None:
    await ingester.ingest([str(notes)])
    assert (await ingester.remove(["notes/alpha.md"])).removed == 1
    assert (await ingester.remove([str(notes)])).removed == 1
    assert (await ingester.remove([str(notes)])).removed == 0
    assert names(store) == []
    assert consistent(store)


async def test_progress_counts_every_document(ingester: Ingester, notes: Path) -> None:
    seen: list[Progress] = []
    await ingester.ingest([str(notes), "/no/such"], seen.append)
    assert [(p.done, p.total, p.outcome) for p in seen] == [
        (0, 3, Outcome.STARTED),
        (1, 3, Outcome.SKIPPED),
        (2, 3, Outcome.ADDED),
        (3, 3, Outcome.ADDED),
    ]


async def test_another_embedding_model_embeds_everything_again(
    ingester: Ingester, store: Store, notes: Path, embedder: WordEmbedder
) -> None:
    await ingester.ingest([str(notes)])
    second = WordEmbedder("another")
    summary = await Ingester(EmbeddedIndex(store.path), RagSettings(), second).ingest(
        [str(notes / "alpha.md")]
    )
    assert summary.unchanged == 1
    assert len(second.embedded) == len(embedder.embedded) == 2
    assert not store.stale("another", 0, 9)


async def test_another_chunk_size_cuts_again(ingester: Ingester, store: Store, notes: Path) -> None:
    await ingester.ingest([str(notes)])
    summary = await Ingester(EmbeddedIndex(store.path), RagSettings(chunk_tokens=50), None).ingest(
        [str(notes)]
    )
    assert summary.updated == 2


async def test_an_embedding_model_that_fails_leaves_a_search_by_words(store: Store, notes: Path) -> None:
    class Down(WordEmbedder):
        async def embed(self, texts):
            raise ModelUnavailable("down")

    summary = await Ingester(EmbeddedIndex(store.path), RagSettings(), Down()).ingest([str(notes)])
    assert summary.added == 2
    assert [p.source for p in Searcher(store.path).search("bananas", 3)] == ["notes/beta.md"]


async def test_a_cancelled_ingestion_leaves_whole_documents_and_resumes(
    store: Store, notes: Path, embedder: WordEmbedder
) -> None:
    held = asyncio.Event()

    class Held(WordEmbedder):
        async def embed(self, texts):
            held.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(
        Ingester(EmbeddedIndex(store.path), RagSettings(), Held()).ingest([str(notes)])
    )
    await held.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert consistent(store)
    assert names(store) == ["notes/alpha.md"]
    await Ingester(EmbeddedIndex(store.path), RagSettings(), embedder).ingest([str(notes)])
    assert len(names(store)) == 2
    assert not store.stale(embedder.name, 0, 9)


async def test_ingesting_the_same_folder_twice_at_once_gives_each_document_once(
    store: Store, notes: Path
) -> None:
    for number in range(12):
        (notes / f"n{number}.md").write_text(f"# N{number}\n\n" + "words of a note. " * 200)
    await asyncio.gather(
        *(
            Ingester(EmbeddedIndex(Store(store.path).path), RagSettings(), WordEmbedder()).ingest(
                [str(notes)]
            )
            for _ in range(3)
        )
    )
    assert len(names(store)) == 14
    assert consistent(store)


@pytest.mark.processes
def test_a_killed_process_leaves_an_index_that_opens(store: Store, notes: Path, tmp_path: Path) -> None:
    for number in range(200):
        (notes / f"n{number}.md").write_text(f"# N{number}\n\n" + "words of a note. " * 300)
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from agents.rag.index.embedded import EmbeddedIndex\n"
        "from agents.rag.index.store import Store\n"
        "from agents.rag.ingest.ingester import Ingester\n"
        "from agents.rag.settings import RagSettings\n"
        "ingester = Ingester(EmbeddedIndex(Store(Path(sys.argv[1])).path), RagSettings(), None)\n"
        "asyncio.run(ingester.ingest([sys.argv[2]], lambda p: print(p.done, flush=True)))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(store.path), str(notes)],
        stdout=subprocess.PIPE,
        cwd=REPOSITORY,
        text=True,
    ) as process:
        assert process.stdout is not None
        while int(process.stdout.readline()) < 20:
            pass
        process.kill()
    reopened = Store(store.path)
    assert 20 <= len(names(reopened)) < 202
    assert consistent(reopened)


def test_a_damaged_index_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    path.write_bytes(b"no database " * 500)
    with pytest.raises(StorageError, match="could not be opened") as failed:
        Store(path)
    assert str(tmp_path) not in failed.value.message


@pytest.mark.parametrize(
    ("value", "expected"), [("none", ()), (" a.md , https://x.y/z,", ("a.md", "https://x.y/z"))]
)
def test_sources_are_separated_by_commas(value: str, expected: tuple[str, ...]) -> None:
    assert RagSettings.load({"RAG_SOURCES": value}).targets() == expected


def test_the_default_sources_are_the_pages_for_users_without_decisions_promises_and_maintainers_pages() -> (
    None
):
    names = [Path(target).name for target in RagSettings.load({}).targets()]
    assert names[:3] == ["README.md", "CONTRIBUTING.md", "SECURITY.md"]
    assert {"faq.md", "configuration.md", "troubleshooting.md"} <= set(names)
    assert not {"docs", "systems", "decisions", "testing.md", "releasing.md", "changing.md"} & set(names)

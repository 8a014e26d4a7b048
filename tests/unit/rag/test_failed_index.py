"""A damaged, full or forbidden index file is named to the operator, with the way out."""

from __future__ import annotations

import errno
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from structlog.testing import capture_logs

from agents.rag.agent import RagAgent
from agents.rag.index.failures import storage_errors
from agents.rag.index.search import Searcher
from agents.rag.index.store import Store
from agents.rag.ingest_command import EXIT_PROBLEMS, run_ingest
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.errors import RetrievalFailed, StorageError, StorageFull
from utils.testing.scripted_model import ScriptedModel

WAY_OUT = "rag/index.sqlite in PLATFORM_ENGINEER_HOME is damaged. Delete it, with the files beside it"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """Where the agent's index is to stand."""
    path = tmp_path / "rag" / "index.sqlite"
    path.parent.mkdir()
    return path


def agent(index: Path, notes: Path) -> RagAgent:
    settings = AgentSettings.load({"RAG_SOURCES": str(notes), "EMBEDDINGS_PROVIDER": "none"})
    return RagAgent(
        AgentRuntime(
            home=index.parent, settings=settings, model=ScriptedModel.of(), checkpointer=InMemorySaver()
        )
    )


def overwrite(path: Path, start: int) -> None:
    """Put rubbish into a file, from a byte to its end."""
    with path.open("r+b") as file:
        file.seek(start)
        file.write(b"\xa5" * (path.stat().st_size - start))


async def test_a_file_that_is_no_index_is_named_at_the_start_and_the_way_out_works(
    index: Path, notes: Path
) -> None:
    index.write_bytes(b"no database " * 500)
    with pytest.raises(StorageError) as failed:
        await agent(index, notes).start()
    assert WAY_OUT in failed.value.for_operator
    assert "sqlite" not in failed.value.message, "users are not told of files"

    index.unlink()
    again = agent(index, notes)
    await again.start()
    try:
        assert again._ingestion is not None
        await again._ingestion.wait()
        assert (await again.readiness()).ready
    finally:
        await again.stop()
    assert len(Store(index).documents()) == 2


async def test_damage_behind_the_first_pages_is_named_where_the_probe_asks(index: Path, notes: Path) -> None:
    Store(index)
    overwrite(index, 8192)
    damaged = agent(index, notes)
    await damaged.start()
    try:
        assert damaged._ingestion is not None
        await damaged._ingestion.wait()
        state = await damaged.readiness()
    finally:
        await damaged.stop()
    assert not state.ready
    assert WAY_OUT in state.detail


def test_a_search_in_a_damaged_index_names_the_file_in_the_log(index: Path) -> None:
    Store(index)
    overwrite(index, 8192)
    with capture_logs() as logs, pytest.raises(RetrievalFailed, match="could not be searched"):
        Searcher(index).search("anything", 3)
    assert {"event": "storage.damaged", "file": "rag/index.sqlite", "log_level": "error"} in logs


def test_the_command_that_ingests_names_the_file(
    index: Path, notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index.write_bytes(b"no database " * 500)
    environ = {"PLATFORM_ENGINEER_HOME": str(index.parent.parent), "EMBEDDINGS_PROVIDER": "none"}
    assert run_ingest([str(notes)], environ) == EXIT_PROBLEMS
    assert WAY_OUT in capsys.readouterr().err


def test_a_full_disk_is_told_as_one_and_names_the_file(index: Path) -> None:
    Store(index)
    with (
        closing(sqlite3.connect(index)) as connection,
        pytest.raises(StorageFull) as failed,
        storage_errors(index, "written"),
    ):
        connection.executescript("PRAGMA max_page_count = 1; CREATE TABLE more AS SELECT randomblob(100000)")
    assert "The disk is full: the document index rag/index.sqlite" in failed.value.for_operator
    with pytest.raises(StorageFull), storage_errors(index, "opened"):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_file_that_cannot_be_opened_is_named(index: Path) -> None:
    index.mkdir()
    with pytest.raises(StorageError) as failed:
        Store(index)
    assert (
        "rag/index.sqlite in PLATFORM_ENGINEER_HOME could not be opened. See that"
        in failed.value.for_operator
    )

"""What is gone, or no longer a source, is not answered from; what was ingested by hand stays."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from agents.rag.agent import RagAgent
from agents.rag.index.embedded import EmbeddedIndex
from agents.rag.index.opening import INDEX_FILE
from agents.rag.index.schema import connect
from agents.rag.index.store import Store
from agents.rag.ingest.ingester import Ingester
from agents.rag.settings import RagSettings
from tests.contract.rag.test_bad_documents import ingest, settings, sources
from utils.testing.live_agent import running_agent
from utils.testing.live_server import running
from utils.testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.listens


@pytest.fixture
def staff(tmp_path: Path) -> Path:
    return _folder(tmp_path / "staff", "handbook.md", "pay.md")


@pytest.fixture
def runbooks(tmp_path: Path) -> Path:
    return _folder(tmp_path / "runbooks", "restart.md")


def _folder(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).write_text(f"# {name}\n\nThe text of {name}.\n")
    return folder


async def started(tmp_path: Path, *targets: object) -> list[str]:
    """The documents that an agent answers from once it is ready with these RAG_SOURCES."""
    async with _agent(tmp_path, ",".join(map(str, targets)) or "none"):
        return sources(tmp_path)


@asynccontextmanager
async def _agent(tmp_path: Path, value: str) -> AsyncIterator[None]:
    environ = settings(tmp_path) | {"RAG_SOURCES": value, "RAG_ALLOW_PRIVATE_URLS": "true"}
    async with (
        running_agent(RagAgent, environ=environ, model=ScriptedModel.of(), home=tmp_path / "data") as url,
        httpx.AsyncClient(trust_env=False) as http,
    ):
        while (await http.get(f"{url}/readyz")).status_code != httpx.codes.OK:
            pass
        yield


async def test_a_deleted_folder_is_taken_out_of_the_index_and_the_command_says_so(
    staff: Path, tmp_path: Path
) -> None:
    await ingest(tmp_path, staff)
    shutil.rmtree(staff)
    code, lines, _ = await ingest(tmp_path, staff)
    assert code == 1
    assert lines[-4:] == [
        f"[1/3] {staff} does not exist; its 2 documents are removed.",
        "[2/3] staff/handbook.md: removed",
        "[3/3] staff/pay.md: removed",
        "0 added, 0 updated, 0 unchanged, 2 removed, 1 skipped.",
    ]
    assert sources(tmp_path) == []


async def test_a_configured_folder_that_is_gone_is_not_answered_from_after_the_next_start(
    staff: Path, runbooks: Path, tmp_path: Path
) -> None:
    assert len(await started(tmp_path, staff, runbooks)) == 3
    shutil.rmtree(staff)
    assert await started(tmp_path, staff, runbooks) == ["runbooks/restart.md"]


async def test_a_source_taken_out_of_the_setting_is_not_answered_from(
    staff: Path, runbooks: Path, tmp_path: Path
) -> None:
    await started(tmp_path, staff, runbooks)
    assert await started(tmp_path, runbooks) == ["runbooks/restart.md"]
    assert await started(tmp_path, "none") == []


async def test_a_page_taken_out_of_the_setting_is_not_answered_from(runbooks: Path, tmp_path: Path) -> None:
    async def page(_: Request) -> Response:
        return PlainTextResponse("The page.")

    async with running(Starlette(routes=[Route("/page.txt", page)])) as url:
        assert len(await started(tmp_path, f"{url}/page.txt", runbooks)) == 2
    assert await started(tmp_path, runbooks) == ["runbooks/restart.md"]


async def test_a_page_that_cannot_be_had_just_now_is_kept(tmp_path: Path) -> None:
    answers = iter([PlainTextResponse("The page."), PlainTextResponse("", 500)])

    async def page(_: Request) -> Response:
        return next(answers)

    async with running(Starlette(routes=[Route("/page.txt", page)])) as url:
        first = await started(tmp_path, f"{url}/page.txt")
        assert await started(tmp_path, f"{url}/page.txt") == first


async def test_documents_ingested_by_hand_outlive_every_start(
    staff: Path, runbooks: Path, tmp_path: Path
) -> None:
    await ingest(tmp_path, runbooks)
    await started(tmp_path, staff)
    assert await started(tmp_path, "none") == ["runbooks/restart.md"]
    shutil.rmtree(runbooks)
    assert await started(tmp_path, staff) == ["runbooks/restart.md", "staff/handbook.md", "staff/pay.md"]


async def test_a_document_that_two_sources_hold_goes_with_the_last_of_them(
    staff: Path, tmp_path: Path
) -> None:
    one = staff / "pay.md"
    await started(tmp_path, staff, one)
    assert await started(tmp_path, one) == ["staff/pay.md"]
    await ingest(tmp_path, one)
    (staff / "pay.md").write_text("# Pay\n\nMore.\n")
    assert await started(tmp_path, staff) == ["staff/handbook.md", "staff/pay.md"]
    assert await started(tmp_path, "none") == ["staff/pay.md"]


async def test_what_a_folder_holds_no_longer_as_a_document_goes_too(staff: Path, tmp_path: Path) -> None:
    await started(tmp_path, staff)
    (staff / "pay.md").rename(staff / ".pay.md")
    (staff / "more").mkdir()
    (staff / "handbook.md").rename(staff / "more" / "handbook.md")
    assert await started(tmp_path, staff) == ["staff/more/handbook.md"]


async def test_the_documents_of_a_folder_that_cannot_be_read_just_now_are_kept_with_a_sentence(
    staff: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root every folder can be read, so that the refusal has to be played."""
    (staff / "inner").mkdir()
    (staff / "inner" / "deep.md").write_text("# Deep\n\nText.\n")
    ingester = Ingester(EmbeddedIndex(Store(tmp_path / "index.sqlite").path), RagSettings(), None)
    await ingester.ingest([str(staff)], configured=True)
    real = os.scandir

    def refusing(folder: Path) -> object:
        if Path(folder).name == "inner":
            raise PermissionError
        return real(folder)

    monkeypatch.setattr(os, "scandir", refusing)
    summary = await ingester.ingest([str(staff)], configured=True)
    assert summary.problems == ("staff/inner cannot be read.",)
    assert len(Store(tmp_path / "index.sqlite").documents()) == 3


async def test_an_index_of_before_keeps_what_no_source_claims(
    staff: Path, runbooks: Path, tmp_path: Path
) -> None:
    await ingest(tmp_path, staff, runbooks)
    with connect(tmp_path / "data" / "rag" / INDEX_FILE) as connection:
        connection.execute("DROP TABLE claims")
    assert await started(tmp_path, runbooks) == ["runbooks/restart.md", "staff/handbook.md", "staff/pay.md"]
    assert await started(tmp_path, "none") == ["staff/handbook.md", "staff/pay.md"]


async def test_an_ingestion_that_changes_no_claim_leaves_loaded_indexes_alone(
    staff: Path, tmp_path: Path
) -> None:
    await started(tmp_path, staff)
    path = tmp_path / "data" / "rag" / INDEX_FILE
    before = _generation(path)
    await started(tmp_path, staff)
    assert _generation(path) == before


def _generation(path: Path) -> int:
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT generation FROM state").fetchone()[0]
    connection.close()
    return int(found)

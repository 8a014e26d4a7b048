"""One bad document costs a sentence: not the rest of the ingestion, and not the agent's readiness."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agents.rag.agent import RagAgent
from agents.rag.index.opening import INDEX_FILE
from agents.rag.index.store import Store
from agents.rag.ingest.names import REPOSITORY
from tests.preloaded import process as preloaded
from utils.testing.live_agent import running_agent
from utils.testing.live_server import running
from utils.testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.processes

GOOD = "# Pager\n\nThe pager rings at night.\n"


def bad_name(folder: Path) -> None:
    (folder / os.fsdecode(b"bad\xff.md")).write_text("# Odd\n\nOdd name, good text.\n")


def nested_tables(folder: Path) -> None:
    (folder / "nested.html").write_text("<table><tr><td>" * 400 + "deep" + "</table>" * 400)


def deep_folders(folder: Path) -> None:
    """Deeper than Python calls functions and than a path can be written, which only steps through open folders can make."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1_100):
        os.mkdir("sub", dir_fd=here)
        inner = os.open("sub", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)


def link_to_itself(folder: Path) -> None:
    (folder / "self.md").symlink_to("self.md")


def name_with_a_line_end(folder: Path) -> None:
    (folder / "two\nlines\x1b[2J.md").write_text("# Two\n\nTwo lines in the name.\n")


def tree_of_itself(folder: Path) -> None:
    """A page tree whose node is its own child."""
    tree = b"2 0 obj\n<< /Type /Pages /Kids [2 0 R] /Count 1 >>\nendobj\n"
    head = b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
    (folder / "loop.pdf").write_bytes(head + tree + b"trailer\n<< /Root 1 0 R /Size 3 >>\n%%EOF\n")


BAD: dict[str, Callable[[Path], None]] = {
    "a name that is not UTF-8": bad_name,
    "tables in tables": nested_tables,
    "folders in folders": deep_folders,
    "a link to itself": link_to_itself,
    "a line end in a name": name_with_a_line_end,
    "a PDF that holds itself": tree_of_itself,
}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    made = tmp_path / "notes"
    made.mkdir()
    (made / "alpha.md").write_text(GOOD)
    (made / "omega.md").write_text(GOOD)
    yield made
    subprocess.run(["rm", "-rf", str(made)], check=True)  # what Python's own removal is not deep enough for


def settings(tmp_path: Path) -> dict[str, str]:
    return {
        "PLATFORM_ENGINEER_HOME": str(tmp_path / "data"),
        "EMBEDDINGS_PROVIDER": "none",
        "PYTHONPATH": str(REPOSITORY),
    }


async def ingest(tmp_path: Path, *targets: object, **environ: str) -> tuple[int, list[str], str]:
    process = await preloaded.start(
        ("-m", "agents.rag", "ingest", *map(str, targets)),
        cwd=REPOSITORY,
        env=settings(tmp_path) | environ,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode().splitlines(), err.decode()


def sources(tmp_path: Path) -> list[str]:
    return [document.source for document in Store(tmp_path / "data" / "rag" / INDEX_FILE).documents()]


@pytest.mark.parametrize("make", BAD.values(), ids=BAD.keys())
async def test_the_command_reads_the_rest_and_says_one_line_about_a_bad_document(
    folder: Path, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(folder)
    for _ in range(2):
        code, lines, err = await ingest(tmp_path, folder)
        assert err == ""
        assert code in (0, 1)
        assert {"notes/alpha.md", "notes/omega.md"} <= set(sources(tmp_path))
        told = [line for line in lines if line.startswith("[")]
        assert len(told) == int(told[-1].partition("/")[2].partition("]")[0]), "one line a document"


async def test_a_file_whose_name_is_not_utf8_is_read_under_an_escaped_name(
    folder: Path, tmp_path: Path
) -> None:
    bad_name(folder)
    (folder / r"bad\xff.md").write_text("# Other\n\nThis name has a backslash.\n")
    code, _, _ = await ingest(tmp_path, folder)
    assert code == 0
    assert sources(tmp_path) == [
        "notes/alpha.md",
        r"notes/bad\xff.md",
        r"notes/bad\xff~2.md",
        "notes/omega.md",
    ]
    _, lines, _ = await ingest(tmp_path, folder)
    assert lines[-1] == "0 added, 0 updated, 4 unchanged, 0 removed, 0 skipped."
    (folder / os.fsdecode(b"bad\xff.md")).unlink()
    _, lines, _ = await ingest(tmp_path, folder)
    assert lines[-1] == "0 added, 0 updated, 3 unchanged, 1 removed, 0 skipped."


async def test_a_terminal_that_cannot_show_a_name_does_not_end_the_command(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "größe.md").write_text(GOOD)
    code, lines, err = await ingest(tmp_path, folder, PYTHONIOENCODING="ascii")
    assert (code, err) == (0, "")
    assert r"[2/3] notes/gr\xf6\xdfe.md: added" in lines


@pytest.mark.parametrize("target", ["http://[::1", "~nobody-of-this-name/notes", "x" * 5_000])
async def test_a_target_that_makes_no_sense_costs_a_sentence(
    folder: Path, tmp_path: Path, target: str
) -> None:
    code, lines, err = await ingest(tmp_path, target, folder)
    assert (code, err) == (1, "")
    assert lines[-1] == "2 added, 0 updated, 0 unchanged, 0 removed, 1 skipped."


async def test_a_page_that_is_not_fetched_costs_a_sentence_and_no_line_of_the_log(tmp_path: Path) -> None:
    code, lines, err = await ingest(tmp_path, "http://127.0.0.1:9/page.html")
    assert (code, err) == (1, "")
    assert lines[-1] == "0 added, 0 updated, 0 unchanged, 0 removed, 1 skipped."
    assert "RAG_ALLOW_PRIVATE_URLS" in lines[-2]
    assert not [line for line in lines if "url.refused" in line]


@pytest.mark.parametrize("make", BAD.values(), ids=BAD.keys())
async def test_the_agent_becomes_ready_beside_a_bad_document(
    folder: Path, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(folder)
    environ = settings(tmp_path) | {"RAG_SOURCES": str(folder)}
    body = await _readiness(environ, tmp_path)
    assert body == {"status": "ready", "detail": "", "without": [], "busy": ""}
    assert {"notes/alpha.md", "notes/omega.md"} <= set(sources(tmp_path))


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "text/html; charset=idna"},
        {"content-type": "text/html; charset=undefined"},
        {"content-type": "text/html; charset=unicode_escape"},
    ],
)
async def test_the_agent_becomes_ready_beside_a_page_of_an_odd_server(
    folder: Path, tmp_path: Path, headers: Mapping[str, str]
) -> None:
    async def page(_: Request) -> Response:
        return Response(b"\xff" + b"." * 80 + rb"\ud800", headers=headers)

    async with running(Starlette(routes=[Route("/page", page)])) as url:
        environ = settings(tmp_path) | {
            "RAG_SOURCES": f"{url}/page,{folder}",
            "RAG_ALLOW_PRIVATE_URLS": "true",
        }
        body = await _readiness(environ, tmp_path)
    assert body["status"] == "ready"
    assert {"notes/alpha.md", "notes/omega.md"} <= set(sources(tmp_path))


async def _readiness(environ: Mapping[str, str], tmp_path: Path) -> dict[str, object]:
    """What `/readyz` says when the ingestion has ended."""
    async with (
        running_agent(RagAgent, environ=environ, model=ScriptedModel.of(), home=tmp_path / "data") as url,
        httpx.AsyncClient(trust_env=False) as http,
        asyncio.timeout(60),
    ):
        while True:
            body: dict[str, object] = (await http.get(f"{url}/readyz")).json()
            if not str(body["detail"]).startswith("ingesting"):
                return body

"""Files that an agent returns reach the person: saved, or named with their address."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from a2a.types.a2a_pb2 import Part

from tests.e2e.cli.command import run
from tests.e2e.cli.scripted_agent import ScriptedAgent, Turn, serve

PDF = Part(raw=b"%PDF-1.7", filename="../report.pdf", media_type="application/pdf")
LINK = Part(url="https://files.example.com/terms.txt", filename="terms.txt", media_type="text/plain")


async def reporting(turn: Turn) -> None:
    await turn.task()
    await turn.files(PDF, LINK)
    await turn.chunk("Here is the report.", append=False, last=True)
    await turn.status("completed")


@pytest.mark.parametrize("streaming", [True, False])
async def test_a_file_of_an_answer_is_saved_and_its_path_shown(tmp_path: Path, *, streaming: bool) -> None:
    async with serve(ScriptedAgent(reporting), streaming=streaming) as url:
        done = await run("chat", "--url", url, "--ask", "Report", home=tmp_path)
    path = tmp_path / "downloads" / "report.pdf"
    assert (done.code, done.out) == (0, "Here is the report.\n")
    assert path.read_bytes() == b"%PDF-1.7"
    assert f'The file "report.pdf" (application/pdf, 8 bytes) was saved as {path}' in done.err
    assert 'The file "terms.txt" (text/plain) is at https://files.example.com/terms.txt' in done.err


async def test_a_program_gets_the_paths_of_the_files_from_the_last_line(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    arguments = ["--json", "--downloads", str(folder)]
    async with serve(ScriptedAgent(reporting)) as url:
        done = await run("chat", "--url", url, "--ask", "Report", *arguments, home=tmp_path)
    assert json.loads(done.out.splitlines()[-1])["files"] == [
        {
            "name": "../report.pdf",
            "media_type": "application/pdf",
            "path": str(folder / "report.pdf"),
            "url": None,
        },
        {
            "name": "terms.txt",
            "media_type": "text/plain",
            "path": None,
            "url": "https://files.example.com/terms.txt",
        },
    ]


async def test_each_answer_of_a_chat_has_its_own_files(tmp_path: Path) -> None:
    async def numbered(turn: Turn) -> None:
        await turn.task()
        await turn.files(Part(raw=turn.text.encode(), filename="a.txt"))
        await turn.status("completed")

    async with serve(ScriptedAgent(numbered)) as url:
        done = await run("chat", "--url", url, home=tmp_path, typed="one\ntwo\n")
    saved = {each.name: each.read_text() for each in (tmp_path / "downloads").iterdir()}
    assert saved == {"a.txt": "one", "a-2.txt": "two"}
    assert done.code == 0

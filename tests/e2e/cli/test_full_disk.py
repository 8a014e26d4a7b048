"""Where nothing more can be written, a command says so with the code of a full disk, and leaves no half of a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.cli.command import Finished, finish, run, start_program
from tests.ports import free_port

CODE = """
from pathlib import Path
from types import SimpleNamespace as Of
from multi_agents.cli.chat.typed_history import TypedHistory
from multi_agents.cli.service.ready import ended
from utils.encryption.codec import PLAIN

history = TypedHistory(Path("history"), PLAIN)
history.append_string("hello")
print(history.get_strings())
for code in (1, 2):
    planned = Of(name="rag", port=0)
    lines = [] if code == 1 else ["Set LLM_MODEL."]
    error = ended(Of(planned=planned, process=Of(returncode=code), log=Path("rag.log"), last_lines=lambda: lines))
    print(error.code, error.message)
"""
"""A process that died without a word, and one that said why; and a line that is typed into the chat."""


FULL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
COMMAND = "import runpy; runpy._run_module_as_main('multi_agents.cli')"


async def run_full(code: str, *arguments: str, home: Path) -> Finished:
    """Run Python where no file may have a byte: the same error as that of a full disk, from the system itself."""
    return await finish(await start_program(("-c", FULL + code), *arguments, home=home))


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (("keys", "create", "bob"), "keys.json"),
        (("chat", "--ask", "hi"), ""),
        (("up",), ""),
    ],
    ids=lambda one: one[0] if one else None,
)
async def test_a_command_that_finds_no_room_says_so_and_leaves_what_was_there(tmp_path, command, what):
    await run("keys", "create", "ann", home=tmp_path)
    before = (tmp_path / "keys.json").read_text()
    done = await run_full(COMMAND, *command, home=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Error [storage_full]: There is no room for {tmp_path / what}")
    assert done.err.endswith("Free some space and try again.\n")
    assert {path.name for path in tmp_path.iterdir()} <= {"keys.json", "run.lock"}
    assert (tmp_path / "keys.json").read_text() == before


async def test_a_full_disk_is_one_of_the_things_that_stand_in_the_way(tmp_path):
    done = await run_full(COMMAND, "doctor", "--json", home=tmp_path)
    assert done.code == 2
    (found,) = [one for one in json.loads(done.out) if one["check"] == "data folder"]
    assert (found["level"], found["message"].startswith("There is no room for ")) == ("wrong", True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("file", "command", "code"),
    [("logs", ("up",), 2), ("rag", ("up",), 2), ("rag", ("ingest", "."), 1)],
    ids=["logs", "agent", "ingest"],
)
async def test_a_file_in_the_place_of_a_folder_is_named_with_the_way_out(tmp_path, file, command, code):
    (tmp_path / file).touch()
    port = ("--port", str(free_port())) if command == ("up",) else ()
    done = await run(*command, *port, home=tmp_path)
    assert done.code == code
    assert (
        f"{tmp_path / file} is a file, and a folder is needed there. Move it away and try again." in done.err
    )
    assert "Traceback" not in done.err
    assert "internal_error" not in done.err


async def test_a_process_that_died_of_it_and_a_line_that_cannot_be_kept_are_no_riddle(tmp_path):
    done = await run_full(CODE, home=tmp_path)
    typed, silent, told, *last = done.out.splitlines()
    assert typed == "['hello']"
    assert silent.startswith("storage_full rag ended with code 1. There is no room for ")
    assert told.startswith("settings_invalid rag ended with code 2. The last lines of rag.log:")
    assert last == ["  | Set LLM_MODEL."]

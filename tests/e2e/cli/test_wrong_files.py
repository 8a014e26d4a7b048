"""Files and folders that stand where the other kind, or another content, belongs: each is told by its reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.e2e.cli.command import finish, run, run_agent
from tests.e2e.cli.test_up import Scene, read_until

pytestmark = pytest.mark.processes

ADDRESS = "http://127.0.0.1:9"


def make_folder(path: Path) -> None:
    path.mkdir()


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_utf_16(path: Path) -> None:
    path.write_text("rag: {module: agents.rag, port: 8002}\n", encoding="utf-16")


@pytest.mark.parametrize(
    "words", [("keys", "list"), ("keys", "create", "ann"), ("logout", "--url", ADDRESS), ("up",)]
)
async def test_a_data_folder_that_is_a_file_is_named(tmp_path, words):
    (tmp_path / "data").touch()
    done = await run(*words, home=tmp_path, PLATFORM_ENGINEER_HOME="data")
    assert done.code == 2
    assert "internal_error" not in done.err
    assert "data is a file, and a folder is needed there" in done.err or "data cannot be written" in done.err


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (make_folder, "Is a directory"),
        (make_utf_16, "it is not text in UTF-8"),
        (make_pipe, "it is no regular file"),
    ],
)
async def test_a_list_of_agents_that_cannot_be_read_is_told_with_the_reason(tmp_path, make, why):
    make(tmp_path / "list")
    done = await run("agents", "remove", "rag", "--agents-file", "list", home=tmp_path)
    assert (done.code, done.err) == (1, f"Error [command_failed]: list cannot be read: {why}.\n")


@pytest.mark.parametrize(("make", "what"), [(make_folder, "a folder"), (make_pipe, "no regular file")])
async def test_doctor_says_that_an_env_that_is_no_file_is_not_read(tmp_path, make, what):
    make(tmp_path / ".env")
    done = await run("doctor", "--json", home=tmp_path)
    assert f"{tmp_path / '.env'} is {what}: no setting is read from it." in done.findings("wrong")


async def test_every_command_says_that_an_env_that_links_to_no_file_is_not_read(tmp_path):
    (tmp_path / ".env").symlink_to("nowhere")
    done = await run("keys", "list", home=tmp_path)
    assert (
        done.code,
        f"{tmp_path / '.env'} is a link to no file: no setting is read from it." in done.err,
    ) == (
        0,
        True,
    )


async def test_an_agent_logs_that_an_env_that_is_a_folder_is_not_read(tmp_path):
    (tmp_path / ".env").mkdir()
    done = await run_agent("agents.rag", "--check", home=tmp_path)
    assert done.code == 0
    assert f"{tmp_path / '.env'} is a folder: no setting is read from it." in done.out + done.err


async def test_a_start_with_an_empty_list_of_agents_says_so(tmp_path):
    scene = Scene(tmp_path)
    scene.file.write_text("")
    process = await scene.start()
    lines = await read_until(process, b"The service is up")
    process.terminate()
    await finish(process)
    assert f"{scene.file} lists no agent: the supervisor starts alone." in lines


async def test_a_start_says_that_an_env_that_is_a_folder_is_not_read(tmp_path):
    (tmp_path / ".env").mkdir()
    async with Scene(tmp_path).up() as (_, lines, _):
        assert f"{tmp_path / '.env'} is a folder: no setting is read from it." in lines

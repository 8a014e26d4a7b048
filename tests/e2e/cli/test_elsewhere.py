"""The command is typed in a folder of the user's that has packages of the same names as this project's."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

from tests.e2e.cli.command import PIPE, Finished, finish
from tests.e2e.cli.test_up import Scene, both_methods, read_until

IMPORTS = "import utils.errors, agents, multi_agents"

INSTALLED = ("-m", "multi_agents.cli")
SMALL = (
    "-c",
    """
from multi_agents.cli import main
from multi_agents.cli.service import starter

starter.SHARED_MODULES = ("utils.errors", "agents", "multi_agents")
main.main()
""",
)
"""The same with a fork server that imports the packages and little of them: all of them take it seconds of a processor."""


async def start_in(
    folder, *arguments: str, program: tuple[str, str] = INSTALLED, **environ: str
) -> asyncio.subprocess.Process:
    """The command as it is installed: the folder where it is typed is not among those that are imported from."""
    folder.mkdir()
    for name in ("utils", "agents", "multi_agents"):
        (folder / f"{name}.py").write_text(f"raise SystemExit('{name} of the folder was imported')\n")
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", *program, *arguments),
        env={**os.environ, **environ}, cwd=folder, stdin=PIPE, stdout=PIPE, stderr=PIPE,
    )  # fmt: skip


@both_methods
async def test_no_process_of_the_service_imports_them(tmp_path, method):
    scene = Scene(tmp_path, method=method, boss={"extra": IMPORTS}, one={"extra": IMPORTS})
    home = {"PLATFORM_ENGINEER_HOME": str(tmp_path), **scene.environ}
    process = await start_in(tmp_path / "work", *scene.arguments, program=SMALL, **home)
    await read_until(process, b"The service is up")
    process.send_signal(signal.SIGINT)
    assert (await finish(process)).code == 130


@pytest.mark.parametrize(
    "arguments", [("ingest", "notes.md"), ("serve", "rag", "--port", "none"), ("doctor",)]
)
@pytest.mark.long
async def test_no_other_command_imports_them(tmp_path, arguments):
    done: Finished = await finish(
        await start_in(
            tmp_path / "work", *arguments, PLATFORM_ENGINEER_HOME=str(tmp_path), EMBEDDINGS_PROVIDER="none"
        )
    )
    assert "of the folder was imported" not in done.out + done.err

"""Standard streams that are closed, full or gone: they fail no command that has its answer elsewhere."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from tests.e2e.cli.command import CLI, environment
from tests.e2e.cli.scripted_agent import ScriptedAgent, serve
from tests.e2e.cli.test_chat import echoing
from tests.e2e.cli.test_up import Scene, alive, until

pytestmark = pytest.mark.processes

PIPE = asyncio.subprocess.PIPE
HAS_FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")


async def from_shell(line: str, home: Path, *arguments: str, **environ: str) -> asyncio.subprocess.Process:
    """A line of the shell, in which "$@" is the command."""
    command = (sys.executable, *CLI, *arguments)
    env = environment(home, **environ)
    return await asyncio.create_subprocess_exec(
        "sh", "-c", line, "sh", *command, env=env, cwd=home, stdout=PIPE, stderr=PIPE
    )


@pytest.mark.parametrize("redirected", ["2>&-", pytest.param("2>/dev/full", marks=HAS_FULL)])
async def test_an_answer_is_printed_although_the_progress_can_go_nowhere(tmp_path, redirected):
    async with serve(ScriptedAgent(echoing)) as url:
        asked = ("chat", "--url", url, "--ask", "hello there")
        process = await from_shell(f'"$@" {redirected}', tmp_path, *asked)
        out, _ = await process.communicate()
    assert process.returncode == 0
    assert "hello there" in out.decode()


@pytest.mark.parametrize("redirected", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
async def test_a_command_with_closed_streams_does_its_work_and_ends_as_with_open_ones(tmp_path, redirected):
    made = await from_shell(f'"$@" {redirected}', tmp_path, "keys", "create", "ann")
    _, err = await made.communicate()
    assert (made.returncode, "internal_error" in err.decode()) == (0, False)
    listed = await from_shell('"$@"', tmp_path, "keys", "list")
    out, _ = await listed.communicate()
    assert "ann" in out.decode()


LATIN = {"PYTHONIOENCODING": "latin-1"}
"""What a locale such as de_DE.ISO-8859-1 makes of the streams, on a machine that need not have one."""


async def test_a_character_that_the_encoding_of_the_output_lacks_is_printed_as_its_escape(tmp_path):
    async with serve(ScriptedAgent(echoing)) as url:
        asked = ("chat", "--url", url, "--ask", "süß → 🙂")
        process = await from_shell('"$@"', tmp_path, *asked, **LATIN)
        out, err = await process.communicate()
    assert (process.returncode, "internal_error" in err.decode("latin-1")) == (0, False)
    assert r"süß \u2192 \U0001f642" in out.decode("latin-1")


async def test_json_holds_every_character_in_any_encoding(tmp_path):
    async with serve(ScriptedAgent(echoing)) as url:
        asked = ("chat", "--url", url, "--json", "--ask", "süß → 🙂")
        process = await from_shell('"$@"', tmp_path, *asked, **LATIN)
        out, _ = await process.communicate()
    assert "süß → 🙂" in json.loads(out.splitlines()[-1])["answer"]


async def test_a_failure_keeps_its_exit_code_although_it_cannot_be_told(tmp_path):
    process = await from_shell('"$@" 2>&-', tmp_path, "agents")
    await process.communicate()
    assert process.returncode == 3


async def test_a_service_that_nohup_started_outlives_its_terminal_and_keeps_its_processes_up(tmp_path):
    scene = Scene(tmp_path)
    line = shlex.join((sys.executable, *scene.program, *scene.arguments))
    gone, told = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", f"trap '' HUP; exec {line}"),
        env=environment(tmp_path, **scene.environ),
        cwd=tmp_path,
        stderr=told,
    )
    os.close(told)
    try:
        await until(scene.run_file.exists)
        before = scene.pids()
        os.close(gone)
        process.send_signal(signal.SIGHUP)
        os.kill(before[1], signal.SIGKILL)
        await until(lambda: scene.pids() != before)
        assert all(alive(pid) for pid in scene.pids())
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 143
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()

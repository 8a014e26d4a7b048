"""A shell completes commands and options."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest

from tests.e2e.cli.command import ROOT

PROGRAM = "from multi_agents.cli.main import app; app(prog_name='platform-engineer')"


async def printed(*arguments: str, **environ: str) -> str:
    """What the command prints for a shell; it is called by its name, from which the shell's variable is made."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        PROGRAM,
        *arguments,
        cwd=ROOT,
        env=os.environ | environ,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    return out.decode()


@pytest.mark.parametrize(
    ("line", "word", "offered"),
    [
        ("platform-engineer ta", "1", ["tasks"]),
        ("platform-engineer tasks s", "2", ["show"]),
        ("platform-engineer chat --re", "2", ["--resume"]),
    ],
)
async def test_what_fits_is_offered(line, word, offered):
    out = await printed(_PLATFORM_ENGINEER_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=word)
    assert out.split() == offered


async def test_the_script_for_the_shell_is_printed():
    out = await printed("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "_PLATFORM_ENGINEER_COMPLETE=complete_bash" in out

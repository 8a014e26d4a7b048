"""`ingest`: documents into the RAG agent's index, by that agent's own program."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from multi_agents.cli.chat.interrupts import watch_interrupts
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.own_settings import own_settings
from multi_agents.cli.paths import module_path
from multi_agents.cli.running import run
from multi_agents.cli.service.local import home_folder
from utils.settings import process_environment

MODULE = "agents.rag"


def ingest(sources: Sequence[str], agents_file: Path, *, remove: bool) -> int:
    """Run the program and give its exit code."""
    codes: list[int] = []
    arguments = ["--remove", *sources] if remove else sources
    ended = run(_ingest(arguments, agents_file, codes))
    return codes[0] if codes else ended


async def _ingest(arguments: Sequence[str], agents_file: Path, codes: list[int]) -> ExitCode:
    environ = process_environment() | {"PLATFORM_ENGINEER_HOME": str(home_folder())}
    for own in own_settings(agents_file, environ):  # it searches the index with the settings that write it
        if own.module == MODULE:
            environ = own.over(environ)
    environ["PYTHONPATH"] = module_path(environ)
    command = (sys.executable, "-P", "-m", MODULE, "ingest", *arguments)
    with watch_interrupts():  # Ctrl-C reaches the program too; this process waits for it to finish tidily
        process = await asyncio.create_subprocess_exec(*command, env=environ)
        try:
            code = await process.wait()
        except asyncio.CancelledError:
            process.terminate()
            await process.wait()
            raise
    codes.append(128 - code if code < 0 else code)
    return ExitCode.OK

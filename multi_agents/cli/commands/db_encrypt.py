"""`db encrypt`: encrypts what the agents stored before, by each agent's own program, and the lines that were typed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from multi_agents.cli.commands.db import by_program, local_modules
from multi_agents.cli.console import clean, out, print_json
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.own_settings import own_settings
from multi_agents.cli.running import run
from multi_agents.cli.service.local import home_folder
from multi_agents.cli.typed_lines import renew
from utils.encryption.settings import EncryptionSettings
from utils.settings import process_environment


def db_encrypt(agent: str | None, agents_file: Path, *, vacuum_full: bool, as_json: bool) -> ExitCode:
    """Encrypt the stored data of every local agent, or of one; exit code 2 if some of it could not be encrypted.

    Args:
        agent: The agent; all local ones, and the lines that were typed into the chat, when omitted.
        agents_file: The list of agents.
        vacuum_full: Whether the tables of a database are rewritten then.
        as_json: Whether programs read what is shown.
    """
    return run(_db_encrypt(agent, agents_file, vacuum_full=vacuum_full, as_json=as_json), as_json=as_json)


async def _db_encrypt(agent: str | None, agents_file: Path, *, vacuum_full: bool, as_json: bool) -> ExitCode:
    environ = process_environment() | {"PLATFORM_ENGINEER_HOME": str(home_folder())}
    own = {one.agent: one for one in own_settings(agents_file, environ)}
    options = ("--encrypt", *(("--vacuum-full",) if vacuum_full else ()))
    whole = True
    for name, module in local_modules(agent, agents_file).items():
        told = await by_program(module, options, own[name].over(environ) if name in own else environ)
        whole = whole and told is not None and not told["unreadable"]
        if told is not None and as_json:
            print_json(told)
        elif told is not None:
            for line in _lines(told):
                out().print(clean(line), soft_wrap=True, markup=False, highlight=False)
    if agent is None:
        await asyncio.to_thread(renew, home_folder(), EncryptionSettings.load(environ).codec())
    return ExitCode.OK if whole else ExitCode.USAGE


def _lines(told: Mapping[str, Any]) -> list[str]:
    unreadable = told["unreadable"]
    was = told["values"] - told["encrypted"] - len(unreadable)
    counts = f"{told['agent']}: {told['encrypted']} encrypted, {was} as they should be, {len(unreadable)} unreadable"
    return [counts, *(f"  {each}  cannot be read, and stays as it is" for each in unreadable)]

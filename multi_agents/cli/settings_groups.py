"""All settings, the agents' own included, so that a wrong value or name is told before anything is started."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from multi_agents.cli.service.plan import ROOT
from utils.a2a_common.client.agents_file import AgentEntry
from utils.errors import SettingsError
from utils.settings import env_file, own_environment, process_environment
from utils.settings_docs import COMPOSE
from utils.settings_index import names_of, shared_groups, wrong_values
from utils.settings_names import unknown_names

_INDEX = "utils.settings_index"


@dataclass(frozen=True, slots=True)
class OfAgents:
    """What the agents' own settings are called, and a sentence for each wrong one."""

    names: frozenset[str]
    wrong: Sequence[str]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A name that no setting has.

    Attributes:
        sentence: Where it is set, and what was meant where that can be told.
        suspicious: Whether a setting was meant, as far as can be told; other names of `.env` are handed on to libraries.
        in_file: Whether it stands in `.env`, which is ours, and not in the environment, which is everybody's.
    """

    sentence: str
    suspicious: bool
    in_file: bool


def wrong_settings() -> list[SettingsError]:
    """The settings that all agents share and that cannot be read.

    Raises:
        SettingsError: The `.env` file cannot be read.
    """
    return wrong_values(shared_groups())


async def settings_of_agents(entries: Iterable[AgentEntry]) -> OfAgents:
    """The settings of all agents of the checkout and of these, asked of a process that may import them.

    Raises:
        SettingsError: The `.env` file cannot be read.
    """
    modules = {one.module for one in entries if one.module}
    modules |= {f"agents.{path.parent.name}" for path in ROOT.glob("agents/*/settings.py")}
    environ = process_environment()
    environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", _INDEX, *sorted(modules)]
    done = await asyncio.to_thread(
        subprocess.run, command, env=environ, capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason"])[-1]
        return OfAgents(frozenset(), [f"The settings of the agents cannot be read: {last}."])
    said = json.loads(done.stdout)
    return OfAgents(frozenset(said["names"]), said["wrong"])


def unknown_settings(names: frozenset[str]) -> Iterator[Unknown]:
    """Names of the `.env` file that no setting has, and of the environment those that look like one.

    Args:
        names: What the agents' own settings are called; where they are not known, nothing is told.

    Raises:
        SettingsError: The `.env` file cannot be read.
    """
    if not names:
        return
    known = names | names_of(shared_groups()) | set(COMPOSE)
    in_file = env_file()
    for one in unknown_names(in_file, known):
        yield Unknown(_sentence(".env", one.name, one.meant), one.suspicious, in_file=True)
    others = sorted(name for name in own_environment() if name not in in_file)
    for one in unknown_names(others, known):
        if one.suspicious:
            yield Unknown(_sentence("The environment", one.name, one.meant), suspicious=True, in_file=False)


def _sentence(where: str, name: str, meant: str | None) -> str:
    guess = f": did you mean {meant}?" if meant else "."
    return f"{where} sets {name}, which no setting is called{guess}"

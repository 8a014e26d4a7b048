"""All settings, including the agents' own, so that a wrong value or name is reported before anything starts."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from multi_agents.cli.own_settings import OwnSettings
from multi_agents.cli.paths import ROOT, module_path
from utils.a2a_common.client.agents.agents_file import AgentEntry
from utils.environment import env_file
from utils.errors import SettingsError
from utils.settings import own_environment, process_environment
from utils.settings_docs import COMPOSE
from utils.settings_index import names_of, shared_groups, wrong_values
from utils.settings_names import unknown_names

_INDEX = "utils.settings_index"


@dataclass(frozen=True, slots=True)
class OfAgents:
    """The names of the agents' settings, and the wrong ones.

    Attributes:
        names: Their variables.
        wrong: A sentence for each wrong value of the service's environment.
        wrong_own: A sentence for each wrong value among the settings of single processes.
    """

    names: frozenset[str]
    wrong: Sequence[str]
    wrong_own: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    """A name that no setting has.

    Attributes:
        sentence: Where it is set, and what was meant where that can be told.
        suspicious: Whether a setting was probably meant; other names are passed to libraries.
        in_file: Whether it is in `.env` or in the agents file, which only this service reads, and not in the environment.
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


async def settings_of_agents(entries: Iterable[AgentEntry], own: Sequence[OwnSettings] = ()) -> OfAgents:
    """The settings of all agents of the checkout and of these, asked of a process that may import them.

    Args:
        entries: The agents that are configured.
        own: Settings of single processes, which are checked too.

    Raises:
        SettingsError: The `.env` file cannot be read.
    """
    modules = {one.module for one in entries if one.module}
    modules |= {f"agents.{path.parent.name}" for path in ROOT.glob("agents/*/settings.py")}
    environ = process_environment()
    environ["PYTHONPATH"] = module_path(environ)
    command = [sys.executable, "-P", "-m", _INDEX, *sorted(modules)]
    asked = json.dumps({one.module: dict(one.env) for one in own})  # by a pipe: others can read arguments
    done = await asyncio.to_thread(
        subprocess.run, command, env=environ, input=asked, capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason"])[-1]
        return OfAgents(frozenset(), [f"The settings of the agents cannot be read: {last}."])
    said = json.loads(done.stdout)
    wrong_own = [one.problem(sentence) for one in own for sentence in said["wrong_own"].get(one.module, ())]
    return OfAgents(frozenset(said["names"]), said["wrong"], wrong_own)


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


def unknown_own_settings(names: frozenset[str], own: Iterable[OwnSettings]) -> Iterator[Unknown]:
    """Unknown settings under `env` of an agent; none if the `names` of the agents' settings are unknown."""
    known = names | names_of(shared_groups()) | set(COMPOSE)
    for one in own if names else ():
        for unknown in unknown_names(one.env, known):
            where = f"{one.file}, env of {one.agent},"
            sentence = _sentence(where, unknown.name, unknown.meant)
            yield Unknown(sentence, unknown.suspicious, in_file=True)


def _sentence(where: str, name: str, meant: str | None) -> str:
    guess = f": did you mean {meant}?" if meant else "."
    return f"{where} sets {name}, which no setting is called{guess}"

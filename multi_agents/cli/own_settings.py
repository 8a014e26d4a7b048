"""Settings that one process of the service has for itself: `env` of its entry in the agents file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from multi_agents.cli.paths import SUPERVISOR_MODULE
from utils.a2a_common.client.agents.agent_env import resolve_env
from utils.a2a_common.client.agents.agents_file import SUPERVISOR, load_agents_file, load_supervisor_env
from utils.errors import SettingsError
from utils.settings import SubAgentSettings
from utils.settings_index import shared_groups, wrong_values


@dataclass(frozen=True, slots=True)
class OwnSettings:
    """The settings of one process that replace those of the service.

    Attributes:
        agent: Name of the process.
        module: Module that it runs.
        file: Name of the agents file.
        env: Variables by name, `${NAME}` replaced. May hold secrets: never log a value.
    """

    agent: str
    module: str
    file: str
    env: Mapping[str, str] = field(repr=False)

    def over(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The variables of the process."""
        return {**environ, **self.env}

    def problem(self, sentence: str) -> str:
        """A sentence about one of these settings that names its file."""
        return f"In {self.file}, env of {self.agent}: {sentence}"


def own_settings(agents_file: Path, environ: Mapping[str, str]) -> tuple[OwnSettings, ...]:
    """The processes with settings of their own; none if `SUB_AGENTS` replaces the file.

    Raises:
        SettingsError: The file is wrong, or a value names a variable that is not set.
    """
    if SubAgentSettings.load(environ).sub_agents:
        return ()
    where = f"The agents file {agents_file.name}"
    listed = [(one.name, one.module or "", one.env) for one in load_agents_file(agents_file)]
    listed = [(SUPERVISOR, SUPERVISOR_MODULE, load_supervisor_env(agents_file)), *listed]
    return tuple(
        OwnSettings(name, module, agents_file.name, resolve_env(env, environ, name, where))
        for name, module, env in listed
        if env
    )


def wrong_shared(own: Iterable[OwnSettings], environ: Mapping[str, str]) -> Iterator[SettingsError]:
    """The values that are wrong among the settings that all agents share."""
    for one in own:
        for error in wrong_values(shared_groups(), one.over(environ)):
            if error.variable in one.env:
                yield SettingsError(error.variable, one.problem(error.message))


def names_beyond(own: Sequence[OwnSettings], shared: set[str]) -> bool:
    """Whether one of them sets something that only an agent itself can check."""
    return any(not shared.issuperset(one.env) for one in own)

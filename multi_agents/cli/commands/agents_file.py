"""`agents add` and `agents remove`: entries of agents/agents.yaml."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from multi_agents.cli.console import one_line, say
from multi_agents.cli.errors import CliError, ServiceUnreachable, UsageError
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.running import run
from multi_agents.cli.scaffold.files import TextFile, read_text_file
from multi_agents.cli.scaffold.lists import foreign_in_agents_file
from multi_agents.cli.scaffold.names import RESERVED
from multi_agents.cli.scaffold.yaml_edits import CannotEdit, remove_key
from utils.a2a_common.client.agents.agents_file import (
    AgentEntry,
    load_agents_file,
    parse_sub_agents,
    wrong_name,
)
from utils.errors import SettingsError
from utils.net.loopback import is_loopback
from utils.protection_settings import ClientTlsSettings
from utils.settings import SubAgentSettings

NOT_AN_ADDRESS = "That is not an address; write it as http://host:port."


def add_agent(name: str, url: str, agents_file: Path, *, force: bool) -> ExitCode:
    """Add a foreign agent. Exit code 2 if name or address are wrong or taken, 3 if no agent answers there."""
    return run(_add(name, url, agents_file, force=force))


def remove_agent(name: str, agents_file: Path) -> ExitCode:
    """Remove an agent from the list. Exit code 2 when it is not there."""
    return run(_remove(name, agents_file))


async def _add(name: str, url: str, agents_file: Path, *, force: bool) -> ExitCode:
    file = await asyncio.to_thread(_file, agents_file)
    entry = _checked(name, url)
    if any(one.name == entry.name for one in load_agents_file(agents_file)):
        raise UsageError(f"There is an agent {entry.name} already; nothing was changed.")
    try:
        known = await _look(entry.url)
    except ServiceUnreachable as error:
        if not force:
            raise ServiceUnreachable(
                f"{error.message} Nothing was changed; --force adds it anyway."
            ) from error
        known = f"{error.message} It joins when it comes up."
    try:
        text = foreign_in_agents_file(file.text, entry.name, entry.url)
    except CannotEdit as error:
        raise CliError(f"{agents_file.name} cannot be added to: {error}.") from error
    await asyncio.to_thread(file.write, text)
    say(f"The agent {entry.name} at {entry.url} is in {agents_file.name}. {known}")
    _say_what_else()
    say(_elsewhere(entry))
    return ExitCode.OK


async def _remove(name: str, agents_file: Path) -> ExitCode:
    file = await asyncio.to_thread(_file, agents_file)
    found = [entry for entry in load_agents_file(agents_file) if entry.name == name]
    if not found:
        raise UsageError(
            f"There is no agent {one_line(name, 40)!r} in {agents_file.name}; nothing was changed."
        )
    try:
        text = remove_key(file.text, name)
    except CannotEdit as error:
        raise CliError(f"{agents_file.name} cannot be changed: {error}.") from error
    await asyncio.to_thread(file.write, text)
    say(f"The agent {name} is no longer in {agents_file.name}.")
    if found[0].module:
        say("Its own files, and its places in docker-compose.yaml and the chart, are as they were.")
    _say_what_else()
    return ExitCode.OK


def _file(path: Path) -> TextFile:
    file = read_text_file(path)
    if file is None:
        raise UsageError(f"There is no file {path.name}.")
    return file


def _checked(name: str, url: str) -> AgentEntry:
    if "," in url or any(sign.isspace() or not sign.isprintable() for sign in url):
        raise UsageError(NOT_AN_ADDRESS)
    if name in RESERVED:
        raise UsageError(f"The name {name!r} is taken by the service itself. Choose another one.")
    if problem := wrong_name(name):
        raise UsageError(problem)
    try:
        return parse_sub_agents(f"{name}={url}")[0]
    except SettingsError as error:
        raise UsageError(NOT_AN_ADDRESS) from error


async def _look(url: str) -> str:
    """What the agent says of itself, in a line.

    Raises:
        ServiceUnreachable: Its card cannot be read.
        UsageError: Its card names no address that agents are called at.
    """
    from multi_agents.cli.peer.connection import read_card
    from utils.a2a_common.client.transport.connection import http_client
    from utils.a2a_common.client.transport.interfaces import unusable
    from utils.a2a_common.client.transport.limits import CARD, LARGEST_CARD, PeerLimits
    from utils.a2a_common.client.transport.tls import client_context

    limits = PeerLimits(one_line(url, 60), CARD, LARGEST_CARD)
    async with http_client(url, limits, tls=client_context(ClientTlsSettings.load())) as http:
        card = await read_card(http, url)
    if why_not := unusable(card):
        raise UsageError(f"The agent at {url} cannot be called. {why_not} Nothing was changed.")
    skills = ", ".join(one_line(skill.name, 40) for skill in card.skills[:5]) or "none named"
    return (
        f"Its card says: {one_line(card.name, 60)}, version {one_line(card.version, 30)}; skills: {skills}."
    )


def _elsewhere(entry: AgentEntry) -> str:
    """Where else an operator lists a foreign agent: compose and the chart do not read agents.yaml."""
    if is_loopback(entry.url):
        return "It is on this machine: containers do not reach it at that address."
    return (
        f"For docker compose add it to .env: FOREIGN_AGENTS={entry.name}={entry.url}\n"
        f"For the chart add it to the agents of your values: {{name: {entry.name}, url: {json.dumps(entry.url)}}}"
    )


def _say_what_else() -> None:
    if SubAgentSettings.load().sub_agents:
        say("Note: SUB_AGENTS is set, which takes the place of this file.")
    say("A running service reads the list when it is started again.")

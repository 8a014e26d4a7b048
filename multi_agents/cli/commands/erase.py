"""`erase`: deletes all that the agents keep of one person, by each agent's own program, and the person's API key."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from multi_agents.cli.commands.db import by_program, local_modules
from multi_agents.cli.commands.keys import key_file
from multi_agents.cli.console import clean, out, print_json, say
from multi_agents.cli.errors import UsageError
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.own_settings import own_settings
from multi_agents.cli.running import run
from multi_agents.cli.service.local import home_folder
from multi_agents.cli.typed_lines import FILE
from utils.auth.api_keys import ISSUER
from utils.persistence.private import keep_files_private
from utils.settings import process_environment

AGAIN = "Not all was erased: run this again{}. It goes on from there."
TYPED = "The lines that were typed into `chat` here are in {}, whoever typed them: delete it where they are this person's."

TENANT = "{} is known in a tenant, and no API key here says in which: add --tenant ({})."

TO_BE = "to be erased"

Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Whose data is erased, and where.

    Attributes:
        name: Name of the API key, or subject of the person's tokens.
        issuer: The provider of these; empty for API keys.
        tenant: The person's tenant; that of the key where it is empty.
        agent: The agent; all local ones when omitted.
        agents_file: The list of agents.
    """

    name: str
    issuer: str
    tenant: str
    agent: str | None
    agents_file: Path


def erase_person(wanted: Wanted, *, dry: bool, yes: bool, as_json: bool) -> ExitCode:
    """Look what there is, ask, and erase it; exit code 2 where something stays. The key goes first, so that nothing is added."""

    async def main() -> ExitCode:
        keys = key_file()
        named = [] if wanted.issuer else [each for each in keys.keys() if each.name == wanted.name]  # noqa: SIM118
        key = named[0] if named else None
        tenant = wanted.tenant or (key.tenant if key else "")
        there = await _told_by_all(wanted, tenant, dry=True)
        if None in there.values():
            return ExitCode.USAGE
        tenants = sorted({each for told in _known(there) for each in told["tenants"]})
        if tenants and not (key or wanted.tenant or wanted.issuer):
            raise UsageError(TENANT.format(wanted.name, ", ".join(tenants)))
        ours, number = set(local_modules(None, wanted.agents_file)), int(key is not None)
        if dry:
            _show(_known(there), ours, number, TO_BE, as_json=as_json)
            return ExitCode.OK
        if not yes and not _agreed(lines_of(_known(there), ours, number, TO_BE)):
            return ExitCode.OK
        if key is not None:
            keys.remove(wanted.name)
        gone = await _told_by_all(wanted, tenant, dry=False)
        _show(_known(gone), ours, number, "erased", as_json=as_json)
        whole = all(told is not None and not told["left"] for told in gone.values())
        if not whole:
            say(AGAIN.format(f" with --tenant {tenant}" if tenant else ""))
        typed = home_folder() / FILE
        if typed.exists():
            say(TYPED.format(typed))
        return ExitCode.OK if whole else ExitCode.USAGE

    keep_files_private()
    return run(main(), as_json=as_json)


async def _told_by_all(wanted: Wanted, tenant: str, *, dry: bool) -> dict[str, Told | None]:
    """What each agent's program tells; `None` where it failed, which it has said on standard error."""
    environ = process_environment() | {"PLATFORM_ENGINEER_HOME": str(home_folder())}
    own = {one.agent: one for one in own_settings(wanted.agents_file, environ)}
    options = ["--erase", f"{wanted.issuer or ISSUER} {wanted.name}", "--tenant", tenant]
    options += ["--dry-run"] * dry
    found: dict[str, Told | None] = {}
    for name, module in local_modules(wanted.agent, wanted.agents_file).items():
        found[name] = await by_program(module, options, own[name].over(environ) if name in own else environ)
    return found


def _agreed(lines: Iterable[str]) -> bool:
    for line in lines:
        say(line)
    if not sys.stdin.isatty():
        raise UsageError("Nobody can be asked here: add --yes to erase it.")
    if typer.confirm("Erase it for good?", err=True):
        return True
    say("Nothing was erased.")
    return False


def _known(told: Mapping[str, Told | None]) -> list[Told]:
    return [each for each in told.values() if each is not None]


def _show(told: Sequence[Told], ours: Collection[str], keys: int, done: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"agents": told, "keys": keys})
        return
    for line in lines_of(told, ours, keys, done):
        out().print(clean(line), markup=False, highlight=False, soft_wrap=True)


def lines_of(every: Iterable[Told], ours: Collection[str], keys: int, done: str) -> list[str]:
    """What was erased, or is to be, in lines. Pure.

    Args:
        every: What the agents told.
        ours: Names of the agents that the command works on: what others were told is not erased.
        keys: How many API keys.
        done: Which of both.
    """
    return [*(line for told in every for line in _lines(told, ours, done)), f"API keys {done}: {keys}"]


def _lines(told: Told, ours: Collection[str], done: str) -> list[str]:
    counts = {"conversations": len(told["conversations"]), **told["counts"]}
    lines = [f"{told['agent']} {done}: {', '.join(f'{what} {count}' for what, count in counts.items())}"]
    lines += [f"  {each}  left: a turn of it is under way" for each in told["left"]]
    lines += [f"  also known in the tenant {each}: run this with --tenant {each}" for each in told["tenants"]]
    others = [each for each in told["elsewhere"] if each not in ours]
    return lines + [f"  {each} runs elsewhere, and may still have what it was told" for each in others]

"""`erase`: deletes all that the agents keep of one person, by each agent's own program, and the person's API key."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from multi_agents.cli.commands.db import by_program, local_modules
from multi_agents.cli.commands.keys import key_file
from multi_agents.cli.console import clean, out, print_json, say
from multi_agents.cli.errors import UNASKED, UsageError
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.own_settings import own_settings
from multi_agents.cli.running import run
from multi_agents.cli.service.local import home_folder
from multi_agents.cli.typed_lines import FILE
from utils.auth.api_keys import ISSUER
from utils.persistence.private import keep_files_private
from utils.persistence.settings import DatabaseSettings
from utils.settings import process_environment

AGAIN = "Not all was erased: run this again{}. It goes on from there."
TYPED = (
    "Lines typed into `chat` on this machine are in {}, for all users together. "
    "Delete that file if this person used `chat` here."
)

TENANT = "{} is known in a tenant, and no API key here says in which: add --tenant ({})."
KEY_STAYS = "The API key {} stays: it is {}, run this with {}."
NOT_HERE = "{} is known {}, not {}: nothing was erased. Run this with {}."
NOBODY = (
    'No person named "{}" was found: there is no such API key, and no agent stores data under that name. Searched {}{}, {}. '
    "`platform-engineer keys list` shows the names of the keys. For somebody of an OpenID provider, add --issuer."
)

TO_BE = "to be erased"

Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The person whose data is erased, and the agents that are searched.

    Attributes:
        name: Name of the API key, or subject of the person's tokens.
        issuer: The provider of these; empty for API keys.
        tenant: The person's tenant, empty for none; that of the key where it is omitted.
        agent: The agent; all local ones when omitted.
        agents_file: The list of agents.
    """

    name: str
    issuer: str
    tenant: str | None
    agent: str | None
    agents_file: Path


def erase_person(wanted: Wanted, *, dry: bool, yes: bool, as_json: bool) -> ExitCode:
    """List the data, ask, and erase it; exit code 2 if something stays. The key is deleted first, so that no data is added."""

    async def main() -> ExitCode:
        keys = key_file()
        named = [] if wanted.issuer else [each for each in keys.keys() if each.name == wanted.name]  # noqa: SIM118
        tenant = wanted.tenant if wanted.tenant is not None else named[0].tenant if named else ""
        known = _Known([each.tenant for each in named], await _told_by_all(wanted, tenant, dry=True))
        if None in known.there.values():
            return ExitCode.USAGE
        _check_known(wanted, tenant, known)
        number = known.keys_in(tenant)
        ours = set(local_modules(None, wanted.agents_file))
        if dry:
            _show(known.reports, ours, number, TO_BE, as_json=as_json)
            return ExitCode.OK
        if not yes and not _agreed(lines_of(known.reports, ours, number, TO_BE)):
            return ExitCode.OK
        if number:
            keys.remove(wanted.name)
        gone = _Known(known.of_keys, await _told_by_all(wanted, tenant, dry=False))
        _show(gone.reports, ours, number, "erased", as_json=as_json)
        for each in known.of_keys[number:]:
            say(KEY_STAYS.format(wanted.name, _place(each), _option(each)))
        whole = all(told is not None and not told["left"] for told in gone.there.values())
        if not whole:
            say(AGAIN.format(f" with --tenant {tenant}" if tenant else ""))
        typed = home_folder() / FILE
        if typed.exists():
            say(TYPED.format(typed))
        return ExitCode.OK if whole and not gone.elsewhere(tenant) else ExitCode.USAGE

    keep_files_private()
    return run(main(), as_json=as_json)


@dataclass(frozen=True, slots=True)
class _Known:
    """Where a person is known: the tenants of their API keys, and the report of each agent."""

    of_keys: Sequence[str]
    there: Mapping[str, Told | None]

    @property
    def reports(self) -> list[Told]:
        return [each for each in self.there.values() if each is not None]

    def keys_in(self, tenant: str) -> int:
        return self.of_keys.count(tenant)

    def elsewhere(self, tenant: str) -> list[str]:
        """The other tenants; an empty one for what is outside tenants."""
        told = {one for each in self.reports for one in each["tenants"]}
        return sorted((told | {*self.of_keys}) - {tenant})

    def anywhere_in(self, tenant: str) -> bool:
        found = (
            told["conversations"] or told["left"] or any(told["counts"].values()) for told in self.reports
        )
        return bool(self.keys_in(tenant)) or any(found)


def _check_known(wanted: Wanted, tenant: str, known: _Known) -> None:
    """Refuse what would erase nothing, or the wrong things.

    Raises:
        UsageError: Nobody is known, or it is not clear in which tenant.
    """
    others = known.elsewhere(tenant)
    if others and wanted.tenant is None and not known.of_keys:
        raise UsageError(TENANT.format(wanted.name, ", ".join(others)))
    if known.anywhere_in(tenant):
        return
    if others:
        where = " and ".join(map(_place, others))
        raise UsageError(
            NOT_HERE.format(wanted.name, where, _place(tenant), " or ".join(map(_option, others)))
        )
    home = home_folder()
    also = "DATABASE_URL and " if DatabaseSettings.load().url else ""
    raise UsageError(
        NOBODY.format(
            wanted.name, f"{also}{home}", "" if home.is_dir() else " (which does not exist)", _place(tenant)
        )
    )


def _place(tenant: str) -> str:
    return f"in the tenant {tenant}" if tenant else "outside tenants"


def _option(tenant: str) -> str:
    return f"--tenant {shlex.quote(tenant)}"


async def _told_by_all(wanted: Wanted, tenant: str, *, dry: bool) -> dict[str, Told | None]:
    """The report of each agent's program; `None` if it failed and has reported that on standard error."""
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
        raise UsageError(UNASKED.format("erase"))
    if typer.confirm("Erase it for good?", err=True):
        return True
    say("Nothing was erased.")
    return False


def _show(told: Sequence[Told], ours: Collection[str], keys: int, done: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"agents": told, "keys": keys})
        return
    for line in lines_of(told, ours, keys, done):
        out().print(clean(line), markup=False, highlight=False, soft_wrap=True)


def lines_of(every: Iterable[Told], ours: Collection[str], keys: int, done: str) -> list[str]:
    """Lines about the data that was erased, or will be. Pure.

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
    if in_files := told["out_of_sight"]:
        lines.append(f"  {in_files} of them in files, out of sight since DATABASE_URL is set")
    lines += [f"  also known {_place(each)}: run this with {_option(each)}" for each in told["tenants"]]
    others = [each for each in told["elsewhere"] if each not in ours]
    return lines + [f"  {each} runs elsewhere, and may still have what it was told" for each in others]

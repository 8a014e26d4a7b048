"""`memory`: what an agent remembers of the caller beyond a conversation, and how it is forgotten."""

from __future__ import annotations

import sys

import typer

from multi_agents.cli.commands.tasks import running_url
from multi_agents.cli.console import clean, out, print_json, say
from multi_agents.cli.errors import UNASKED, UsageError
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.peer.connection import connect
from multi_agents.cli.peer.memories import ALL, NOTHING, Memories, forgotten, lines_of, remembered
from multi_agents.cli.running import run
from utils.a2a_common.protocol.memories import MemoryRequest


def ask_memories(url: str | None, token: str, asked: MemoryRequest, *, as_json: bool) -> ExitCode:
    """`memory list`, `memory search` and `memory add`."""

    async def main() -> ExitCode:
        async with connect(url or running_url(), token) as peer:
            _show(await remembered(peer, asked), as_json=as_json)
        return ExitCode.OK

    return run(main(), as_json=as_json)


def forget_memories(url: str | None, token: str, which: str, *, yes: bool, as_json: bool) -> ExitCode:
    """`memory forget`; asks for confirmation before all is forgotten, unless `yes`."""

    async def main() -> ExitCode:
        if which == ALL and not yes:
            if not sys.stdin.isatty():
                raise UsageError(UNASKED.format("forget"))
            if not typer.confirm("Forget all that is remembered about you?", err=True):
                say("Nothing was forgotten.")
                return ExitCode.OK
        async with connect(url or running_url(), token) as peer:
            gone = await forgotten(peer, which)
        if as_json:
            print_json(gone)
        else:
            say(f"Forgotten: {len(gone)}.")
        return ExitCode.OK

    return run(main(), as_json=as_json)


def _show(found: Memories, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
    elif not found:
        say(NOTHING)
    else:
        for line in lines_of(found):
            out().print(clean(line), markup=False, highlight=False, soft_wrap=True)

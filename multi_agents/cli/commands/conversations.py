"""`conversations`: what an agent keeps of the caller's conversations, and its deletion."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

import typer

from multi_agents.cli.commands.tasks import running_url
from multi_agents.cli.console import clean, one_line, out, print_json, say
from multi_agents.cli.errors import UNASKED, UsageError
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.peer.connection import Peer, connect
from multi_agents.cli.peer.conversations import (
    all_of,
    chosen,
    deleted,
    deleted_lines,
    said_in,
    text_of,
    whole_of,
)
from multi_agents.cli.running import run
from multi_agents.cli.service.local import home_folder
from utils.atomic_file import is_full, not_written, write_new
from utils.persistence.out_of_sight import notice_for
from utils.persistence.settings import DatabaseSettings

Work = Callable[[Peer], Coroutine[Any, Any, ExitCode]]

WHAT_GOES = (
    "This deletes the conversation {} ({}): requests, answers, files and what the agent remembers of it, here and at "
    "your own agents that worked on it. Agents of others keep what they received. This cannot be undone."
)


def list_conversations(url: str | None, token: str, *, as_json: bool) -> ExitCode:
    """`conversations list`."""

    async def work(peer: Peer) -> ExitCode:
        found = await all_of(peer)
        if as_json:
            print_json(found)
        elif not found:
            say("There are no conversations.")
        else:
            for line in map(row, found):
                _print(line)
        if url is None and (unseen := notice_for(DatabaseSettings.load(), home_folder())):
            say(unseen)
        return ExitCode.OK

    return _with_peer(url, token, work, as_json=as_json)


def row(one: Mapping[str, Any]) -> str:
    """A line for one conversation. Pure."""
    said = one_line(str(one.get("title") or one.get("request") or ""), 80)
    return f"{one.get('contextId')}  {str(one.get('updatedAt'))[:16].replace('T', ' ')}  {_requests(one)}  {said}"


def _requests(one: Mapping[str, Any]) -> str:
    number = int(one.get("tasks") or 0)
    return "1 request" if number == 1 else f"{number} requests"


def show_conversation(url: str | None, token: str, which: str, *, as_json: bool) -> ExitCode:
    """`conversations show`."""

    async def work(peer: Peer) -> ExitCode:
        whole = await whole_of(peer, (await chosen(peer, which))["contextId"])
        if as_json:
            print_json(whole)
            return ExitCode.OK
        if whole["title"]:
            _print(one_line(str(whole["title"])))
        for task in reversed(whole["tasks"]):
            _print(f"> {one_line(said_in(task), 200)}")
            for line in _answered(task).splitlines():
                _print(f"  {line}")
        return ExitCode.OK

    return _with_peer(url, token, work, as_json=as_json)


def export_conversation(url: str | None, token: str, which: str, file: Path | None) -> ExitCode:
    """`conversations export`."""

    async def work(peer: Peer) -> ExitCode:
        whole = await whole_of(peer, (await chosen(peer, which))["contextId"])
        if file is None:
            print_json(whole)
            return ExitCode.OK
        try:
            write_new(file, (json.dumps(whole, ensure_ascii=False, indent=2) + "\n").encode())
        except OSError as error:
            if is_full(error):
                raise not_written(file, error) from error
            raise UsageError(f"{file} cannot be written: {error.strerror}.") from error
        written = len(whole["tasks"])
        say(f"{'1 request was' if written == 1 else f'{written} requests were'} written to {file}.")
        return ExitCode.OK

    return _with_peer(url, token, work, as_json=False)


def delete_conversation(
    url: str | None, token: str, which: str, *, yes: bool, here_only: bool, as_json: bool
) -> ExitCode:
    """`conversations delete`: asks for confirmation, unless `yes`."""

    async def work(peer: Peer) -> ExitCode:
        one = await chosen(peer, which)
        context_id = str(one["contextId"])
        if not yes:
            say(WHAT_GOES.format(context_id, _requests(one)))
            if not sys.stdin.isatty():
                raise UsageError(UNASKED.format("delete"))
            if not typer.confirm("Delete it?", err=True):
                say("Nothing was deleted.")
                return ExitCode.OK
        answer = await deleted(peer, context_id, home_folder(), here_only=here_only)
        if as_json:
            print_json(dict(answer))
        else:
            for line in deleted_lines(answer):
                say(line)
        return ExitCode.OK

    return _with_peer(url, token, work, as_json=as_json)


def _answered(task: Mapping[str, Any]) -> str:
    found = [text_of(each) for each in task.get("artifacts") or [] if each.get("name") == "response"]
    return "\n".join(found) or text_of((task.get("status") or {}).get("message") or {})


def _print(line: str) -> None:
    out().print(clean(line), markup=False, highlight=False, soft_wrap=True)


def _with_peer(url: str | None, token: str, work: Work, *, as_json: bool) -> ExitCode:
    async def main() -> ExitCode:
        async with connect(url or running_url(), token, local=url is None) as peer:
            return await work(peer)

    return run(main(), as_json=as_json)

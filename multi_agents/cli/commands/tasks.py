"""`tasks`: the tasks of an agent, one by one or as a list."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from a2a.types import Task
from google.protobuf.json_format import MessageToDict

from multi_agents.cli.chat.ask import print_result, sink_for, summary
from multi_agents.cli.chat.conversations import MOST_TASKS, request_of
from multi_agents.cli.chat.drive import TurnResult, drive
from multi_agents.cli.console import one_line, out, print_json, say
from multi_agents.cli.errors import ServiceUnreachable
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.peer.connection import Peer, connect, plain_errors
from multi_agents.cli.running import run
from multi_agents.cli.service.local import running_service
from multi_agents.cli.typed_ids import id_begun_with
from multi_agents.cli.view.state import TurnView
from multi_agents.cli.view.tree import draw
from utils.a2a_common.client.stream import follow
from utils.a2a_common.client.stream.decode import decode_task, state_of
from utils.a2a_common.client.transport.errors import RequestRefused
from utils.a2a_common.protocol.extensions import TREE_EXTENSION

WHOLE = 36
"""Characters of the id of a task of this project's agents."""

Action = Callable[[Peer], Coroutine[Any, Any, ExitCode]]


def list_tasks(url: str | None, token: str, context: str, limit: int, *, as_json: bool) -> ExitCode:
    """`tasks list`."""

    async def action(peer: Peer) -> ExitCode:
        tasks = await peer.connection.list_tasks(context, limit=limit, history=1)
        if as_json:
            print_json([MessageToDict(task) for task in tasks])
        else:
            _print_table(tasks)
        return ExitCode.OK

    return _with_peer(url, token, action, as_json=as_json)


def show_task(url: str | None, token: str, task_id: str, *, as_json: bool) -> ExitCode:
    """`tasks show`."""

    async def action(peer: Peer) -> ExitCode:
        task = await peer.connection.get_task(await whole_id(peer, task_id))
        if as_json:
            print_json(MessageToDict(task))
        else:
            _print_task(task, peer)
        return ExitCode.OK

    return _with_peer(url, token, action, as_json=as_json)


def tree_of_task(url: str | None, token: str, task_id: str, *, as_json: bool) -> ExitCode:
    """`tasks tree`: a task and all that it caused at other agents."""

    async def action(peer: Peer) -> ExitCode:
        task = await peer.connection.get_task(await whole_id(peer, task_id))
        if as_json:
            print_json({"task": task.id, "tree": MessageToDict(task.metadata).get(TREE_EXTENSION, {})})
        else:
            for line in draw(one_line(peer.card.name), _view(task).task):
                out().print(line, markup=False, highlight=False, soft_wrap=True)
        return ExitCode.OK

    return _with_peer(url, token, action, as_json=as_json)


def cancel_task(url: str | None, token: str, task_id: str, *, as_json: bool) -> ExitCode:
    """`tasks cancel`."""

    async def action(peer: Peer) -> ExitCode:
        task = await peer.connection.cancel(await whole_id(peer, task_id))
        if as_json:
            print_json(MessageToDict(task))
        else:
            say(f"Task {task.id} is {state_of(task.status).value}.")
        return ExitCode.OK

    return _with_peer(url, token, action, as_json=as_json)


def follow_task(url: str | None, token: str, task_id: str, *, as_json: bool) -> ExitCode:
    """`tasks follow`: as if the question had just been asked; Ctrl-C cancels the task."""

    async def action(peer: Peer) -> ExitCode:
        whole = await whole_id(peer, task_id)
        events = follow.follow_task(peer.connection, whole)
        result = await drive(peer, events, sink_for(as_json=as_json), task_id=whole)
        if as_json:
            print_json(summary(result))
        else:
            print_result(result)
        return result.exit_code

    return _with_peer(url, token, action, as_json=as_json)


async def whole_id(peer: Peer, typed: str) -> str:
    """The id of the one task of the caller that begins so; what was typed where it is whole, or nothing begins so.

    Raises:
        UsageError: Several do.
    """
    if not typed or len(typed) >= WHOLE:
        return typed
    try:
        tasks = await peer.connection.list_tasks(limit=MOST_TASKS, history=0)
    except RequestRefused:  # it lists none
        return typed
    return id_begun_with(typed, (task.id for task in tasks), "tasks") or typed


def _with_peer(url: str | None, token: str, action: Action, *, as_json: bool) -> ExitCode:
    async def main() -> ExitCode:
        async with connect(url or running_url(), token, local=url is None) as peer:
            with plain_errors(peer.url):
                return await action(peer)

    return run(main(), as_json=as_json)


def running_url() -> str:
    running = running_service()
    if running is None:
        raise ServiceUnreachable(
            "No service runs here. Start one with `platform-engineer up`, or give --url."
        )
    return running.supervisor.url


def _print_table(tasks: Sequence[Task]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("task", "state", "changed", "conversation", "request"):
        table.add_column(heading, no_wrap=heading != "request")
    for task in tasks:
        row = (task.id, state_of(task.status).value, _changed(task), task.context_id, request_of(task))
        table.add_row(*(Text(one_line(cell)) for cell in row))
    out().print(table)


def _view(task: Task) -> TurnView:
    view = TurnView()
    for event in decode_task(task):
        view.apply(event)
    return view


def _print_task(task: Task, peer: Peer) -> None:
    view = _view(task)
    say(f"task {task.id} · {view.state or ''} · conversation {task.context_id} · changed {_changed(task)}")
    print_result(TurnResult(view))
    if view.works:
        say(f"To follow it: {peer.command('tasks follow', task.id)}", to_copy=True)


def _changed(task: Task) -> str:
    return task.status.timestamp.ToDatetime().strftime("%Y-%m-%d %H:%M:%S") if task.status.timestamp else ""

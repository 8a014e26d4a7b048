"""The conversations that a person had with an agent, found among their tasks by the id of the context."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile
from typing import TYPE_CHECKING

from multi_agents.cli.chat.slash_commands import SlashCommand
from multi_agents.cli.console import err, one_line, say
from multi_agents.cli.errors import AgentRefused, UsageError
from multi_agents.cli.peer.connection import Peer, plain_errors
from multi_agents.cli.typed_ids import id_begun_with
from multi_agents.cli.view.parts import message_text
from multi_agents.cli.view.state import TurnView
from utils.a2a_common.client.delegation.task_view import TaskView
from utils.a2a_common.client.stream.decode import decode_parts, decode_task, state_of
from utils.a2a_common.client.stream.events import WAITING_STATES
from utils.a2a_common.protocol.extensions import asks_to_clear
from utils.events import ContentPart, DataPart

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Task

SHORT = 8
"""Characters of an id that are shown; as many of them as tell it from the others may be typed."""

MOST_TASKS = 1_000
"""Tasks that are looked at."""

MOST_SHOWN = 15
LAST_TURNS = 2
LAST_LINES = 12
"""Lines of an earlier answer that are shown again."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation.

    Attributes:
        context_id: Its id.
        changed: When its newest task changed.
        requests: How many of its tasks were found.
        request: What was said last.
        waiting_task: The task that waits for the person, if one does.
    """

    context_id: str
    changed: datetime
    requests: int
    request: str
    waiting_task: str = ""


def short_id(context_id: str) -> str:
    """The beginning of an id."""
    return context_id[:SHORT]


async def conversations_of(peer: Peer, context_id: str = "") -> list[Conversation]:
    """The conversations of the caller's newest tasks, newest first; with an id only that one."""
    with plain_errors(peer.url):
        return grouped(await peer.connection.list_tasks(context_id, limit=MOST_TASKS, history=1))


async def known_conversation(peer: Peer, context_id: str) -> Conversation | None:
    """The conversation with that id; `None` if the agent knows none, or does not list its tasks."""
    try:
        found = await conversations_of(peer, context_id)
    except AgentRefused:
        return None
    return next((one for one in found if one.context_id == context_id), None)


def grouped(tasks: Iterable[Task]) -> list[Conversation]:
    """The conversations of a list of tasks, newest first, without those that the agent was told to forget. Pure."""
    found: dict[str, Conversation] = {}
    forgotten: set[str] = set()
    for task in tasks:
        if task.context_id in forgotten:
            continue
        if is_clear(task):
            forgotten.add(task.context_id)
            continue
        known = found.get(task.context_id)
        waits = task.id if state_of(task.status) in WAITING_STATES else ""
        found[task.context_id] = Conversation(
            task.context_id,
            known.changed if known else task.status.timestamp.ToDatetime(UTC),
            known.requests + 1 if known else 1,
            known.request if known else request_of(task),
            known.waiting_task if known else waits,
        )
    return list(found.values())


def request_of(task: Task) -> str:
    """The person's words, as far as the task's history has them; `/clear` for a request to forget."""
    return SlashCommand.CLEAR.line if is_clear(task) else message_text(_said(task))


def is_clear(task: Task) -> bool:
    """Whether the task asked the agent to forget its conversation."""
    return asks_to_clear(
        part.value for part in _said(task) if isinstance(part, DataPart) and isinstance(part.value, Mapping)
    )


def _said(task: Task) -> Sequence[ContentPart]:
    from a2a.types.a2a_pb2 import Role

    said = [message for message in task.history if message.role == Role.ROLE_USER]
    return decode_parts(said[-1].parts) if said else ()


def conversation_list(peer: Peer) -> str:
    """The command of a shell that lists the conversations, as a sentence has it."""
    return f"`{peer.command('conversations list')}`"


def chosen(
    conversations: Sequence[Conversation], which: str, *, listed_by: str = "/conversations"
) -> Conversation:
    """The conversation with that number in the list, or whose id begins so.

    Args:
        conversations: Those there are, as they are listed.
        which: What was typed.
        listed_by: The command that lists them where it was typed.

    Raises:
        UsageError: None is, or several are.
    """
    if which.isdecimal() and 0 < int(which) <= min(len(conversations), MOST_SHOWN):
        return conversations[int(which) - 1]
    by_id = {one.context_id: one for one in conversations}
    if (whole := id_begun_with(which, by_id, "conversations")) is not None:
        return by_id[whole]
    raise UsageError(f"There is no conversation {which} among your last requests. {listed_by} lists them.")


def rows(
    conversations: Sequence[Conversation],
    now: datetime,
    width: int,
    here: str = "",
    *,
    more: str = "platform-engineer tasks list",
) -> list[str]:
    """A line for each conversation, the one that is under way with a mark; `more` is the command that lists all. Pure."""
    lines = []
    for number, one in enumerate(conversations[:MOST_SHOWN], 1):
        mark = "*" if one.context_id == here else " "
        count = "1 request" if one.requests == 1 else f"{one.requests} requests"
        state = ", waits for you" if one.waiting_task else ""
        head = f"{mark}{number:>2}  {short_id(one.context_id)}  {_when(one.changed, now)}  {count}{state}"
        request = one_line(one.request, max(20, width - len(head) - 2))
        fits = len(head) + len(request) + 2 <= width
        lines.append(f"{head}  {request}" if fits else f"{head}\n      {one_line(one.request, width - 6)}")
    if (beyond := len(conversations) - MOST_SHOWN) > 0:
        lines.append(f"{beyond} older: `{more} --limit {MOST_TASKS}` shows their ids.")
    return lines


def _when(changed: datetime, now: datetime) -> str:
    local, today = changed.astimezone(), now.astimezone()
    return local.strftime("%H:%M" if local.date() == today.date() else "%Y-%m-%d")


def show(conversations: Sequence[Conversation], here: str, peer: Peer) -> None:
    """Say them, and how to go on with one."""
    if not conversations:
        say("There are no conversations yet.")
        return
    for line in rows(conversations, datetime.now(UTC), err().width, here, more=peer.command("tasks list")):
        say(line)
    say("/resume NUMBER goes on with one.")


async def show_last_turns(peer: Peer, context_id: str) -> dict[str, str]:
    """Show the last turns of a conversation: each request with the end of its answer.

    Returns:
        The id of the question that each task which waits was shown with.
    """
    asked = {}
    with plain_errors(peer.url):
        tasks = await peer.connection.list_tasks(context_id, limit=LAST_TURNS, artifacts=True)
    last = list(takewhile(lambda task: not is_clear(task), tasks))
    for task in reversed(last):
        view = TurnView(TaskView(task.id), ours=peer.connection.reports_activity)
        for event in decode_task(task):
            view.apply(event)
        say(f"> {one_line(request_of(task), 200)}")
        said = view.answer or view.failure or (view.question if view.waits else f"({view.state or ''})")
        for line in last_lines(said):
            say(f"  {one_line(line, err().width - 2)}")
        if view.waits:
            asked[task.id] = view.task.message_id
    return asked


def last_lines(text: str) -> list[str]:
    """The end of a text, and how much of it was left out."""
    lines = text.strip().splitlines()
    left = len(lines) - LAST_LINES
    return [f"({left} lines before)", *lines[left:]] if left > 1 else lines

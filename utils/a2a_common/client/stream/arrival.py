"""Whether a message without an answer arrived: its agent is searched for it by its id.

Not every agent can answer that. The protocol requires neither that an agent lists its tasks nor that tasks show their
messages, and an agent may answer with a message and no task at all. So a message that is found has arrived, but a
message that is not found proves that it did not arrive only in two cases: the agent shows the messages of its tasks, or
it recognises a repeated message by its id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utils.a2a_common.client.stream.decode import decode_task, state_of
from utils.a2a_common.client.stream.events import WAITING_STATES, PeerEvent
from utils.a2a_common.client.transport.errors import RequestRefused, UnusableAnswer

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Message, Task

    from utils.a2a_common.client.transport.connection import Connection


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search for a message.

    Attributes:
        events: The task that the message began or answered, as its events; empty where it was not found.
        may_send: Whether the message may be sent again: the agent certainly does not have it, or would know it by its id.
    """

    events: Sequence[PeerEvent] = ()
    may_send: bool = False


async def look_for(connection: Connection, message: Message, *, artifacts: bool = False) -> SearchResult:
    """Search for a message once.

    Raises:
        PeerError: The agent cannot be reached, or something else answered in its place.
    """
    try:
        tasks = await _candidates(connection, message, artifacts=artifacts)
    except RequestRefused:
        tasks = []
    except UnusableAnswer as error:
        if not error.final:
            raise
        tasks = []
    for task in tasks:
        if any(each.message_id == message.message_id for each in task.history):
            return SearchResult(tuple(decode_task(task)))
    if connection.knows_repeated:
        return SearchResult(may_send=True)
    if message.task_id and any(state_of(task.status) not in WAITING_STATES for task in tasks):
        return SearchResult(tuple(decode_task(tasks[0])))  # it went on, as it does after an answer
    return SearchResult(may_send=bool(tasks) and all(map(_shows_messages, tasks)))


async def find_task(connection: Connection, message: Message) -> Sequence[PeerEvent]:
    """The events of the task that a message began or answered; empty if there is no such task.

    Raises:
        PeerError: The agent cannot be reached, or something else answered in its place.
    """
    return (await look_for(connection, message)).events


async def _candidates(connection: Connection, message: Message, *, artifacts: bool) -> Sequence[Task]:
    if message.task_id:
        return [await connection.get_task(message.task_id)]
    return await connection.list_tasks(message.context_id, artifacts=artifacts)


def _shows_messages(task: Task) -> bool:
    """Whether the history of a task contains the user's messages."""
    from a2a.types.a2a_pb2 import Role

    return any(each.role == Role.ROLE_USER and each.message_id for each in task.history)

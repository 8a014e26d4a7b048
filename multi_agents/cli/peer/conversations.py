"""Asks an agent for the conversations of the person, with what goes wrong as a `CliError`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from multi_agents.cli.console import one_line
from multi_agents.cli.errors import AgentRefused, UsageError
from multi_agents.cli.peer.connection import Peer, plain_errors
from multi_agents.cli.typed_ids import id_begun_with
from multi_agents.cli.typed_lines import forget
from utils.a2a_common.client.conversations import ask_conversations, keeps_conversations
from utils.a2a_common.protocol.conversations import (
    MOST_LISTED,
    Action,
    ConversationsRequest,
    Reason,
    parse_kept,
)
from utils.encryption.settings import EncryptionSettings

NOT_KEPT = "The agent at {} does not list or delete conversations: its card does not declare it."


async def ask(peer: Peer, asked: ConversationsRequest) -> Mapping[str, Any]:
    """The agent's answer.

    Raises:
        AgentRefused: It has none, or refuses.
    """
    if not keeps_conversations(peer.card):
        raise AgentRefused(NOT_KEPT.format(peer.url))
    with plain_errors(peer.url):
        answer = await ask_conversations(peer.connection, asked)
    if answer is None:
        raise AgentRefused(NOT_KEPT.format(peer.url))
    return answer


async def all_of(peer: Peer) -> list[Mapping[str, Any]]:
    """Every conversation, newest first."""
    found: list[Mapping[str, Any]] = []
    token = ""
    while True:
        answer = await ask(peer, ConversationsRequest(Action.LIST, limit=MOST_LISTED, page_token=token))
        found += answer.get("conversations") or []
        token = str(answer.get("nextPageToken") or "")
        if not token:
            return found


async def whole_of(peer: Peer, context_id: str) -> dict[str, Any]:
    """A conversation with all its tasks, newest first, as JSON of the protocol."""
    tasks: list[Any] = []
    token = ""
    while True:
        answer = await ask(peer, ConversationsRequest(Action.EXPORT, context_id, page_token=token))
        tasks += answer.get("tasks") or []
        token = str(answer.get("nextPageToken") or "")
        if not token:
            return {"contextId": context_id, "title": str(answer.get("title") or ""), "tasks": tasks}


def said_in(task: Mapping[str, Any]) -> str:
    """The person's last words in a task of `whole_of`. Pure."""
    said = [each for each in task.get("history") or [] if each.get("role") == "ROLE_USER"]
    return text_of(said[-1]) if said else ""


def text_of(holder: Mapping[str, Any]) -> str:
    """The text of a message or an artifact as JSON. Pure."""
    parts: Sequence[Mapping[str, Any]] = holder.get("parts") or []
    return "".join(str(part.get("text", "")) for part in parts)


async def deleted(peer: Peer, context_id: str, home: Path, *, here_only: bool) -> Mapping[str, Any]:
    """Delete a conversation, and what was typed of it into the chat whose lines are kept in `home`; the agent's answer.

    Raises:
        CliError: The agent cannot be asked, or did not delete it.
    """
    tasks = (await whole_of(peer, context_id))["tasks"]
    typed = [text_of(each) for task in tasks for each in task.get("history") or []]
    answer = await ask(peer, ConversationsRequest(Action.DELETE, context_id, here_only=here_only))
    await asyncio.to_thread(forget, home, typed, EncryptionSettings.load().codec())
    return answer


def deleted_lines(answer: Mapping[str, Any]) -> list[str]:
    """Sentences about what a deletion has removed, and what it has not. Pure."""
    number = int(answer.get("tasks") or 0)
    lines = [
        f"Deleted: {number} {'request' if number == 1 else 'requests'} with all answers, files and what was remembered of them."
    ]
    for each in parse_kept(answer.get("kept")):
        why = "is not one of ours" if each.reason is Reason.FOREIGN else "could not be reached"
        lines.append(f"The agent {one_line(each.agent, 80)} {why}: it may still have what it was told.")
    return lines


async def chosen(peer: Peer, which: str) -> Mapping[str, Any]:
    """The conversation whose id begins so.

    Raises:
        UsageError: None does, or several do.
    """
    by_id = {str(one.get("contextId", "")): one for one in await all_of(peer)}
    if (whole := id_begun_with(which, by_id, "conversations")) is not None:
        return by_id[whole]
    raise UsageError(f"There is no conversation {which}. `{peer.command('conversations list')}` lists them.")

"""Makes the sub-agents that know a conversation forget or delete it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from dataclasses import replace
from itertools import chain

import structlog
from a2a.utils.errors import TaskNotFoundError

from utils.a2a_common.client.agents.registry import SubAgentRegistry
from utils.a2a_common.client.conversations import ask_conversations, keeps_conversations
from utils.a2a_common.client.delegation.remote_agent import RemoteAgent
from utils.a2a_common.client.stream.message import user_message
from utils.a2a_common.client.transport.connection import Connection
from utils.a2a_common.client.transport.errors import BEST_EFFORT
from utils.a2a_common.protocol.conversations import Action, ConversationsRequest, Kept, Reason, parse_kept
from utils.a2a_common.protocol.declared import declares
from utils.a2a_common.protocol.extensions import CONTEXT_EXTENSION, clear_payload
from utils.errors import SubAgentUnavailable

log = structlog.get_logger(__name__)

Reach = Callable[[str], AbstractAsyncContextManager[RemoteAgent]]
"""Reaches the agent of a name."""

FORGET_SECONDS = 5.0
DELETE_SECONDS = 30.0

_FORGET = "Forget everything."


async def forget_below(used: Mapping[str, str], registry: SubAgentRegistry, reach: Reach) -> None:
    """Ask the agents that can to forget a conversation. Best effort: failing is logged.

    Args:
        used: Its ids there, by the agent's name; a name may have an id of its own after a slash.
        registry: The agents.
        reach: Reaches one of them.
    """
    found = [_forget_at(line.partition("/")[0], there, registry, reach) for line, there in used.items()]
    await asyncio.gather(*found)


async def _forget_at(name: str, there: str, registry: SubAgentRegistry, reach: Reach) -> None:
    card = next((agent.card for agent in registry.agents if agent.name == name), None)
    if card is None or not declares(card, CONTEXT_EXTENSION):
        log.info("delegation.not_forgotten", agent=name)
        return
    with suppress(SubAgentUnavailable):  # its card no longer names an address
        async with reach(name) as remote:
            await _forgotten(name, remote.connection, there)


async def _forgotten(name: str, connection: Connection, context_id: str) -> None:
    message = user_message(_FORGET, context_id=context_id, data=[clear_payload()])
    try:
        async with asyncio.timeout(FORGET_SECONDS), aclosing(connection.send(message)) as stream:
            async for _ in stream:
                pass
    except BEST_EFFORT as error:
        log.warning("delegation.forget_failed", agent=name, reason=type(error).__name__)


async def delete_below(
    used: Mapping[str, str], registry: SubAgentRegistry, is_own: Callable[[str], bool], reach: Reach
) -> list[Kept]:
    """Have a conversation deleted at every agent that took part in it; return those that still have data of it.

    Args:
        used: Its ids there, by the agent's name; a name may have an id of its own after a slash.
        registry: The agents.
        is_own: Whether an agent is one of ours. The answer of a foreign one cannot be verified.
        reach: Reaches one of them.
    """
    found = [
        _delete_at(line.partition("/")[0], there, registry, is_own, reach) for line, there in used.items()
    ]
    return list(dict.fromkeys(chain.from_iterable(await asyncio.gather(*found))))


async def _delete_at(
    name: str, there: str, registry: SubAgentRegistry, is_own: Callable[[str], bool], reach: Reach
) -> list[Kept]:
    left = None
    card = next((agent.card for agent in registry.agents if agent.name == name), None)
    if card is not None:
        if not keeps_conversations(card):
            return [Kept(name, Reason.FOREIGN)]
        with suppress(SubAgentUnavailable):  # its card no longer names an address
            async with reach(name) as remote:
                left = await _deleted(name, remote.connection, there)
    if not is_own(name):
        return [Kept(name, Reason.FOREIGN)]
    if left is None:
        return [Kept(name, Reason.UNREACHABLE)]
    return [replace(each, agent=f"{name}/{each.agent}") for each in left]


async def _deleted(name: str, connection: Connection, context_id: str) -> Sequence[Kept] | None:
    """The agents behind an own agent that still have data of a conversation; `None` if it did not confirm the deletion."""
    try:
        async with asyncio.timeout(DELETE_SECONDS):
            answer = await ask_conversations(connection, ConversationsRequest(Action.DELETE, context_id))
    except BEST_EFFORT as error:
        if isinstance(error.__cause__, TaskNotFoundError):
            return ()
        log.warning("delegation.not_deleted", agent=name, reason=type(error).__name__)
        return None
    return parse_kept(answer.get("kept")) if answer and answer.get("deleted") is True else None

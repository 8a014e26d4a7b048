"""Deletes a conversation at the agents that were told of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from itertools import chain

from utils.a2a_common.client.conversations import keeps_conversations
from utils.a2a_common.client.registry import SubAgentRegistry
from utils.a2a_common.client.remote_agent import RemoteAgent
from utils.a2a_common.protocol.conversations import Kept, Reason
from utils.errors import SubAgentUnavailable

Reach = Callable[[str], AbstractAsyncContextManager[RemoteAgent]]
"""Reaches the agent of a name."""


async def delete_below(
    used: Mapping[str, str], registry: SubAgentRegistry, is_own: Callable[[str], bool], reach: Reach
) -> list[Kept]:
    """Have a conversation deleted at every agent that was told of it; name those that still have something of it.

    Args:
        used: Its ids there, by the agent's name; a name may have an id of its own after a slash.
        registry: The agents.
        is_own: Whether an agent is one of ours. What another one says cannot be checked.
        reach: Reaches one of them.
    """
    found = [_at(line.partition("/")[0], there, registry, is_own, reach) for line, there in used.items()]
    return list(dict.fromkeys(chain.from_iterable(await asyncio.gather(*found))))


async def _at(
    name: str, there: str, registry: SubAgentRegistry, is_own: Callable[[str], bool], reach: Reach
) -> list[Kept]:
    left = None
    card = next((agent.card for agent in registry.agents if agent.name == name), None)
    if card is not None:
        if not keeps_conversations(card):
            return [Kept(name, Reason.FOREIGN)]
        with suppress(SubAgentUnavailable):  # its card names no address any more
            async with reach(name) as remote:
                left = await remote.delete_conversation(there)
    if not is_own(name):
        return [Kept(name, Reason.FOREIGN)]
    if left is None:
        return [Kept(name, Reason.UNREACHABLE)]
    return [replace(each, agent=f"{name}/{each.agent}") for each in left]

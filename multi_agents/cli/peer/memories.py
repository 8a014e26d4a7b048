"""Requests the person's memories from an agent; failures are a `CliError`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from multi_agents.cli.console import one_line
from multi_agents.cli.errors import AgentRefused, UsageError
from multi_agents.cli.peer.connection import Peer, plain_errors
from utils.a2a_common.client.stream.extension_request import ask_extension
from utils.a2a_common.protocol.declared import declares
from utils.a2a_common.protocol.memories import MEMORY_EXTENSION, MemoryAction, MemoryRequest, memory_part

NOT_KEPT = "The agent at {} remembers nothing beyond a conversation: its card does not declare it."
NOTHING = "Nothing is remembered."
ALL = "all"

Memories = list[Mapping[str, Any]]


async def remembered(peer: Peer, asked: MemoryRequest) -> Memories:
    """The memories that the answer tells of.

    Raises:
        AgentRefused: The agent has none, or refuses.
    """
    if not declares(peer.card, MEMORY_EXTENSION):
        raise AgentRefused(NOT_KEPT.format(peer.url))
    with plain_errors(peer.url):
        answer = await ask_extension(peer.connection, MEMORY_EXTENSION, memory_part(asked))
    if answer is None:
        raise AgentRefused(NOT_KEPT.format(peer.url))
    return [each for each in answer.get("memories") or [] if isinstance(each, Mapping)]


async def forgotten(peer: Peer, which: str) -> Memories:
    """Forget one memory, by its id or its number in the list, or all of them; what was forgotten.

    Raises:
        UsageError: There is no such memory.
        AgentRefused: The agent has none, or refuses.
    """
    if which == ALL:
        return await remembered(peer, MemoryRequest(MemoryAction.FORGET_ALL))
    meant = chosen(await remembered(peer, MemoryRequest(MemoryAction.LIST)), which)
    return await remembered(peer, MemoryRequest(MemoryAction.FORGET, memory_id=str(meant["id"])))


def chosen(found: Memories, which: str) -> Mapping[str, Any]:
    """The memory of an id or a number. Pure.

    Raises:
        UsageError: There is no such memory.
    """
    by_id = [each for each in found if each.get("id") == which]
    if by_id:
        return by_id[0]
    if which.isdecimal() and 0 < int(which) <= len(found):
        return found[int(which) - 1]
    raise UsageError(f"There is no memory {one_line(which, 40)}. The list has a number and an id for each.")


def lines_of(found: Memories) -> list[str]:
    """A line for each memory: number, id, kind, day and words. Pure."""
    return [
        f"{number}. [{one_line(str(each.get('id')), 40)}] {one_line(str(each.get('kind')), 20)}, "
        f"{one_line(str(each.get('day')), 10)}: {one_line(str(each.get('text') or '(no key reads it)'), 700)}"
        for number, each in enumerate(found, 1)
    ]

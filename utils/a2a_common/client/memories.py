"""Asks an agent of our kind for what it remembers of the caller."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from utils.a2a_common.client.decode import decode_parts
from utils.a2a_common.client.message import user_message
from utils.a2a_common.protocol.memories import MEMORY_EXTENSION, MemoryAsked, memory_answer, memory_part
from utils.events import DataPart

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import AgentCard

    from utils.a2a_common.client.connection import Connection


def keeps_memories(card: AgentCard) -> bool:
    """Whether a card declares the extension for memories."""
    return MEMORY_EXTENSION in {each.uri for each in card.capabilities.extensions}


async def ask_memory(connection: Connection, asked: MemoryAsked) -> Mapping[str, Any] | None:
    """What an agent answers; `None` where the answer is none of the extension.

    Raises:
        PeerError: The agent cannot be reached, or refuses.
        PeerLimitExceeded: It answers too much.
        ProtocolViolation: It answers what cannot be stored.
    """
    message = user_message("", context_id="", data=[memory_part(asked)])
    answer: Mapping[str, Any] | None = None
    async with aclosing(connection.send(message)) as stream:
        async for response in stream:
            parts = decode_parts(response.message.parts)
            answer = memory_answer(part.value for part in parts if isinstance(part, DataPart))
    return answer

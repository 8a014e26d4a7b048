"""Asks an agent of our kind for the caller's conversations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from utils.a2a_common.client.stream.extension_request import ask_extension
from utils.a2a_common.protocol.conversations import (
    CONVERSATIONS_EXTENSION,
    ConversationsRequest,
    conversations_part,
)
from utils.a2a_common.protocol.declared import declares

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import AgentCard

    from utils.a2a_common.client.transport.connection import Connection


def keeps_conversations(card: AgentCard) -> bool:
    """Whether a card declares the extension for conversations."""
    return declares(card, CONVERSATIONS_EXTENSION)


async def ask_conversations(connection: Connection, asked: ConversationsRequest) -> Mapping[str, Any] | None:
    """The agent's answer; `None` if it does not follow the extension. Raises the errors of `ask_extension`."""
    return await ask_extension(connection, CONVERSATIONS_EXTENSION, conversations_part(asked))

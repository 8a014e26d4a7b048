"""Asks an agent by a message of an extension, which it answers without a task."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from utils.a2a_common.client.stream.decode import decode_parts
from utils.a2a_common.client.stream.message import user_message
from utils.a2a_common.protocol.extension_data import answer_in
from utils.events import DataPart

if TYPE_CHECKING:
    from utils.a2a_common.client.transport.connection import Connection


async def ask_extension(connection: Connection, uri: str, part: dict[str, Any]) -> Mapping[str, Any] | None:
    """The agent's answer to a data part; `None` if it does not follow the extension.

    Raises:
        PeerError: The agent cannot be reached, or refuses.
        PeerLimitExceeded: It answers too much.
        ProtocolViolation: It answers what cannot be stored.
    """
    answer: Mapping[str, Any] | None = None
    async with aclosing(connection.send(user_message("", context_id="", data=[part]))) as stream:
        async for response in stream:
            parts = decode_parts(response.message.parts)
            answer = answer_in((each.value for each in parts if isinstance(each, DataPart)), uri)
    return answer

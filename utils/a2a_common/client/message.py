"""A user's message to an agent, as the protocol has it. Pure but for the id that is made where none is given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from utils.a2a_common.protocol.answer_proof import proof_payload
from utils.a2a_common.protocol.parts import data_part

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Message


def user_message(
    text: str,
    *,
    context_id: str,
    task_id: str = "",
    message_id: str = "",
    data: Iterable[Mapping[str, Any]] = (),
    secret: str = "",
) -> Message:
    """A message with one text part, left out where it is empty, and a part for each of `data`.

    With `secret` it shows that it comes from the same sender as every other message with it.
    """
    from a2a.types.a2a_pb2 import Message, Part, Role

    texts = [Part(text=text)] if text else []
    message = Message(
        message_id=message_id or str(uuid4()),
        context_id=context_id,
        task_id=task_id,
        role=Role.ROLE_USER,
        parts=[*texts, *map(data_part, data)],
    )
    if secret:
        message.metadata.update(proof_payload(secret))
    return message

"""Messages of an agent, as the protocol has them. Pure but for their ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from utils.a2a_common.protocol.extensions import QUESTION_EXTENSION, question_payload
from utils.a2a_common.protocol.parts import data_part, encode_part

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Message

    from utils.events import ContentPart, InputRequired


def agent_message(text: str) -> Message:
    """A sentence."""
    from a2a.types.a2a_pb2 import Message, Part, Role

    return Message(message_id=str(uuid4()), role=Role.ROLE_AGENT, parts=[Part(text=text)])


def answer_message(parts: Iterable[ContentPart], metadata: Mapping[str, Mapping[str, Any]]) -> Message:
    """A whole answer, with metadata of extensions."""
    from a2a.types.a2a_pb2 import Message, Role

    message = Message(message_id=str(uuid4()), role=Role.ROLE_AGENT, parts=map(encode_part, parts))
    if metadata:
        message.metadata.update(metadata)
        message.extensions.extend(metadata)
    return message


def question_message(asked: InputRequired, agent: str, *, form: bool) -> Message:
    """A question to the user, with the name of the agent behind `agent` that asks it; with its form where `form`."""
    message = agent_message(asked.question)
    if asked.origin and asked.origin != agent:
        message.metadata.update({QUESTION_EXTENSION: question_payload(asked.origin)})
    if asked.form is not None and form:
        message.parts.append(data_part({"form": dict(asked.form), "origin": asked.origin}))
    return message

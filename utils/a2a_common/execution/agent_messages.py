"""Messages of an agent, as the protocol has them. Pure but for their ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from utils.a2a_common.protocol.asked import keep_form
from utils.a2a_common.protocol.extensions import QUESTION_EXTENSION, question_payload
from utils.a2a_common.protocol.parts import data_part, encode_part

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Message

    from utils.events import ContentPart, InputRequired

_ORDER = "propertyOrdering"


def agent_message(text: str) -> Message:
    """A sentence."""
    from a2a.types.a2a_pb2 import Message, Part, Role

    return Message(message_id=str(uuid4()), role=Role.ROLE_AGENT, parts=[Part(text=text)])


def answer_message(parts: Iterable[ContentPart], metadata: Mapping[str, Mapping[str, Any]]) -> Message:
    """A complete answer, with metadata of extensions."""
    from a2a.types.a2a_pb2 import Message, Role

    message = Message(message_id=str(uuid4()), role=Role.ROLE_AGENT, parts=map(encode_part, parts))
    if metadata:
        message.metadata.update(metadata)
        message.extensions.extend(metadata)
    return message


def question_message(asked: InputRequired, agent: str, *, form: bool) -> Message:
    """A question to the user, with its form, other data unchanged, and the name of the asking agent if that is not `agent` itself.

    A client that does not get the `form` as a part finds it in the metadata: the form does not depend on the client.
    """
    message = agent_message(asked.question)
    if asked.origin and asked.origin != agent:
        message.metadata.update({QUESTION_EXTENSION: question_payload(asked.origin)})
    if asked.form is not None and form:
        message.parts.append(data_part({"form": in_order(asked.form), "origin": asked.origin}))
    elif asked.form is not None:
        keep_form(message, in_order(asked.form))
    if form:
        message.parts.extend(map(encode_part, asked.parts))
    return message


def in_order(form: Mapping[str, Any]) -> dict[str, Any]:
    """A form with the order of the fields that are asked for as `propertyOrdering`: protocol buffers do not keep it.

    An order in the form itself is kept, since the fields of another agent's form have lost theirs.
    """
    fields = form.get("properties")
    if not isinstance(fields, Mapping) or _ORDER in form:
        return dict(form)
    asked = [name for name, field in fields.items() if not (isinstance(field, Mapping) and "const" in field)]
    return {**form, _ORDER: asked} if len(asked) > 1 else dict(form)

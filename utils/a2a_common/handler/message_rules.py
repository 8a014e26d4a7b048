"""Validates a message before an agent gets it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from a2a.types.a2a_pb2 import Message, Part, Role, SendMessageRequest
from a2a.utils.errors import InvalidParamsError
from a2a.utils.proto_utils import validate_proto_required_fields
from google.api.field_behavior_pb2 import FieldBehavior, field_behavior
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message as ProtoMessage

from utils.a2a_common.protocol.json_values import MAX_VALUES, complaint_about
from utils.a2a_common.protocol.parts import LARGEST_METADATA

MAX_PARTS = 1_000
"""Parts of one message: each is an object that is built, stored and sent again with its task, in the event loop."""

MAX_ID_CHARACTERS = 128
"""Longest context, task or message id and tenant: room for a UUID with a prefix, and fit for an index."""

_ID = re.compile(r"[^\x00-\x1f\x7f]*")


def check_id(name: str, value: str) -> None:
    """Refuse an id that is too long or carries control characters.

    Raises:
        InvalidParamsError: Names the field.
    """
    if len(value) > MAX_ID_CHARACTERS:
        raise InvalidParamsError(f"{name} is longer than {MAX_ID_CHARACTERS} characters.")
    if _ID.fullmatch(value) is None:
        raise InvalidParamsError(f"{name} contains a control character.")


def check_params(params: ProtoMessage) -> None:
    """Refuse the parameters of an operation that are malformed.

    Sizes are looked at first: a message of a hundred thousand parts takes seconds to look through for missing fields.

    Raises:
        InvalidParamsError: Names what is wrong.
    """
    if isinstance(params, SendMessageRequest):
        check_request(params)
    check_required(params)


def check_request(params: SendMessageRequest) -> None:
    """Refuse a request whose message no agent could answer, or that no list of tasks could hold.

    Raises:
        InvalidParamsError: Names what is wrong.
    """
    check_message(params.message)
    _check_length("configuration.acceptedOutputModes", params.configuration.accepted_output_modes)
    _check_values("metadata", params.metadata)


def _check_length(name: str, entries: Sequence[object]) -> None:
    if len(entries) > MAX_PARTS:
        raise InvalidParamsError(f"{name} has more than {MAX_PARTS} entries.")


def _check_values(name: str, value: ProtoMessage) -> None:
    complaint = complaint_about(value, most=MAX_VALUES)
    if complaint is not None:
        raise InvalidParamsError(f"{name} {complaint}.")


def check_message(message: Message) -> None:
    """Refuse a message that no agent could answer, or that no list of tasks could hold.

    Raises:
        InvalidParamsError: Names what is wrong.
    """
    if len(message.parts) > MAX_PARTS:
        raise InvalidParamsError(f"message has more than {MAX_PARTS} parts. Join them.")
    _check_length("message.referenceTaskIds", message.reference_task_ids)
    _check_length("message.extensions", message.extensions)
    _check_values("message", message)
    check_id("message.messageId", message.message_id)
    check_id("message.contextId", message.context_id)
    check_id("message.taskId", message.task_id)
    if message.role != Role.ROLE_USER:
        raise InvalidParamsError("message.role must be ROLE_USER.")
    for index, part in enumerate(message.parts):
        content = part.WhichOneof("content")
        if content is None:
            raise InvalidParamsError(f"message.parts[{index}] has no content: set text, raw, url or data.")
        if content in {"text", "url", "raw"} and not getattr(part, content):
            raise InvalidParamsError(f"message.parts[{index}].{content} is empty.")
        if content == "text" and "\x00" in part.text:
            raise InvalidParamsError(f"message.parts[{index}].text contains a NUL character.")
        if part.metadata.ByteSize() > LARGEST_METADATA:
            raise InvalidParamsError(
                f"message.parts[{index}].metadata has more than {LARGEST_METADATA:,} bytes."
            )
    if message.parts and all(_is_blank(part) for part in message.parts):
        raise InvalidParamsError("message holds only white space or invisible characters.")


def _is_blank(part: Part) -> bool:
    """Whether a part is text without a visible character; allowed beside another part."""
    if part.WhichOneof("content") != "text":
        return False
    return not any(character.isprintable() for character in part.text.strip().replace(" ", ""))


class _Field(NamedTuple):
    """A field that is required, or in which something may be lacking."""

    name: str
    required: bool
    repeated: bool
    presence: bool
    inside: bool


def check_required(message: ProtoMessage) -> None:
    """Refuse a message that lacks a field which the protocol requires.

    The SDK looks through every message inside a request, each value of free JSON among them, and reads the options of each
    field again. Here a type is looked at once, and types without required fields are skipped.

    Raises:
        InvalidParamsError: Names the fields, as the SDK does.
    """
    if _lacks(message):
        validate_proto_required_fields(message)


def _lacks(message: ProtoMessage) -> bool:
    for field in _fields(message.DESCRIPTOR):
        value = getattr(message, field.name)
        given = message.HasField(field.name) if field.presence else bool(value)
        if field.required and not given:
            return True
        if field.inside and given and any(map(_lacks, _each(value) if field.repeated else (value,))):
            return True
    return False


def _each(values: Any) -> Iterable[ProtoMessage]:
    """The messages of a repeated field, or of a map."""
    messages: Iterable[ProtoMessage] = values.values() if hasattr(values, "values") else values
    return messages


@cache
def _fields(kind: Descriptor) -> tuple[_Field, ...]:
    fields = (
        _Field(each.name, _is_required(each), each.is_repeated, each.has_presence, _may_lack_inside(each))
        for each in kind.fields
    )
    return tuple(each for each in fields if each.required or each.inside)


def _is_required(field: FieldDescriptor) -> bool:
    return FieldBehavior.REQUIRED in field.GetOptions().Extensions[field_behavior]


def _may_lack_inside(field: FieldDescriptor) -> bool:
    """Whether a message of this field, or one inside it at any depth, has a required field."""
    waiting = [field.message_type] if field.message_type is not None else []
    known = set(waiting)
    while waiting:
        for inner in waiting.pop().fields:
            if _is_required(inner):
                return True
            if inner.message_type is not None and inner.message_type not in known:
                known.add(inner.message_type)
                waiting.append(inner.message_type)
    return False

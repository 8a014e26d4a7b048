"""Finds out whether a request lacks a field that the protocol requires, in the fields that may lack something at all.

The SDK looks through every message inside a request, each value of free JSON among them, and reads the options of each field
anew. Here a type is looked at once, and what requires nothing is passed by.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from a2a.utils.proto_utils import validate_proto_required_fields
from google.api.field_behavior_pb2 import FieldBehavior, field_behavior
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message


class _Field(NamedTuple):
    """A field that is required, or in which something may be lacking."""

    name: str
    required: bool
    repeated: bool
    presence: bool
    inside: bool


def check_required(message: Message) -> None:
    """Refuse a message that lacks a required field.

    Raises:
        InvalidParamsError: Names the fields, as the SDK does.
    """
    if _lacks(message):
        validate_proto_required_fields(message)


def _lacks(message: Message) -> bool:
    for field in _fields(message.DESCRIPTOR):
        value = getattr(message, field.name)
        given = message.HasField(field.name) if field.presence else bool(value)
        if field.required and not given:
            return True
        if field.inside and given and any(map(_lacks, _each(value) if field.repeated else (value,))):
            return True
    return False


def _each(values: Any) -> Iterable[Message]:
    """The messages of a repeated field, or of a map."""
    messages: Iterable[Message] = values.values() if hasattr(values, "values") else values
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

"""A request is refused for the same lacking fields, in the same words, as by the SDK's own look at every message inside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from a2a.types import a2a_pb2
from a2a.utils.errors import InvalidParamsError
from a2a.utils.proto_utils import validate_proto_required_fields
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct

from utils.a2a_common.handler.message_rules import check_required

TYPES = [getattr(a2a_pb2, name) for name in sorted(a2a_pb2.DESCRIPTOR.message_types_by_name)]
DEPTH = 4


def filled(message: Message, depth: int = DEPTH) -> Message:
    """The message with every field set, as deep as that goes."""
    if isinstance(message, Struct):
        message.update({"told": {"deep": [1, {"er": "yes"}]}})
        return message
    for field in message.DESCRIPTOR.fields:
        value: Any = getattr(message, field.name)
        kind = field.message_type
        if kind is None:
            one: Any = (
                b"1" if field.type == field.TYPE_BYTES else "1" if field.type == field.TYPE_STRING else 1
            )
            value.append(one) if field.is_repeated else setattr(message, field.name, one)
        elif depth and field.is_repeated and kind.GetOptions().map_entry:
            inner = value["key"] if kind.fields_by_name["value"].message_type else value.update(key="value")
            if inner is not None:
                filled(inner, depth - 1)
        elif depth and field.is_repeated:
            filled(value.add(), depth - 1)
        elif depth:
            value.SetInParent()
            filled(value, depth - 1)
    return message


def with_one_field_less(message: Message) -> Iterator[None]:
    """The message and those inside it, each time without one other field."""
    for field, _ in message.ListFields():
        kept = type(message)()
        kept.CopyFrom(message)
        message.ClearField(field.name)
        yield
        message.CopyFrom(kept)
        value = getattr(message, field.name)
        kind = field.message_type
        if kind is not None and not kind.full_name.startswith("google.protobuf."):
            entries = (
                value.values() if kind.GetOptions().map_entry else value if field.is_repeated else [value]
            )
            for each in [entry for entry in entries if isinstance(entry, Message)]:
                yield from with_one_field_less(each)


def complaint(check: Any, message: Message) -> Any:
    try:
        check(message)
    except InvalidParamsError as error:
        return error.message, error.data
    return None


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.DESCRIPTOR.name)
def test_every_lacking_field_is_named_as_by_the_sdk(kind: type[Message]):
    whole = filled(kind())
    assert complaint(check_required, whole) == complaint(validate_proto_required_fields, whole)
    assert complaint(check_required, kind()) == complaint(validate_proto_required_fields, kind())
    for _ in with_one_field_less(whole):
        assert complaint(check_required, whole) == complaint(validate_proto_required_fields, whole)


def test_a_message_lacks_something_at_every_depth_that_is_looked_at():
    seen = set()
    for kind in TYPES:
        whole = filled(kind())
        for _ in with_one_field_less(whole):
            if said := complaint(check_required, whole):
                seen |= {error["field"].count(".") for error in said[1]["errors"]}
    assert seen >= {0, 1, 2, 3}

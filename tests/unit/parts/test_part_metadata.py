"""Metadata of a part is what its sender needs to recognise it: it stays with the part both ways, within a bound."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.types.a2a_pb2 import Message, Part, Role
from a2a.utils.errors import InvalidParamsError
from google.protobuf import json_format, struct_pb2

from utils.a2a_common.handler.message_rules import check_message
from utils.a2a_common.protocol.parts import LARGEST_METADATA, decode_part, encode_part

TYPE = {"adk_type": "function_call", "order": 3}
CONTENTS: dict[str, Any] = {
    "text": {"text": "a"},
    "raw": {"raw": b"a"},
    "url": {"url": "https://x.example/a"},
    "data": {"data": struct_pb2.Value(bool_value=True)},
}


def marked(metadata: dict[str, Any], **content: Any) -> Part:
    part = Part(**content)
    part.metadata.update(metadata)
    return part


@pytest.mark.parametrize("kind", CONTENTS)
def test_metadata_of_a_part_comes_in_and_goes_out_as_it_is(kind: str) -> None:
    read = decode_part(marked(TYPE, **CONTENTS[kind]))
    assert read is not None
    assert read.metadata == TYPE
    assert json_format.MessageToDict(encode_part(read).metadata) == TYPE


def test_a_part_without_metadata_is_sent_without() -> None:
    read = decode_part(Part(text="a"))
    assert read is not None
    assert not encode_part(read).HasField("metadata")


def test_metadata_beyond_the_bound_is_left_out() -> None:
    read = decode_part(marked({"x": "y" * LARGEST_METADATA}, text="a"))
    assert read is not None
    assert read.metadata == {}


def test_a_message_whose_metadata_would_be_left_out_is_refused() -> None:
    part = marked({"x": "y" * LARGEST_METADATA}, text="a")
    with pytest.raises(InvalidParamsError, match=r"message\.parts\[0\]\.metadata"):
        check_message(Message(message_id="m", role=Role.ROLE_USER, parts=[part]))

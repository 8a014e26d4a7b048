"""Stored form of a turn: JSON, with the request in the JSON form of its protocol message."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from a2a.types.a2a_pb2 import SendMessageRequest
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError

from utils.a2a_common.tasks.turn import Turn

_FIELDS = frozenset(field.name for field in dataclasses.fields(Turn))


def encode(turn: Turn) -> bytes:
    """The stored form of a turn."""
    fields: dict[str, Any] = {name: getattr(turn, name) for name in _FIELDS}
    fields["request"] = MessageToDict(turn.request)
    fields["extensions"] = sorted(turn.extensions)
    fields["trace"] = dict(turn.trace)
    return json.dumps(fields, ensure_ascii=False, sort_keys=True).encode()


def decode(body: bytes) -> Turn:
    """The turn of a stored form; fields that this version does not know are ignored.

    Raises:
        ValueError: It is not the form of a turn.
    """
    try:
        fields = {name: value for name, value in json.loads(body).items() if name in _FIELDS}
        fields["request"] = ParseDict(fields["request"], SendMessageRequest(), ignore_unknown_fields=True)
        fields["extensions"] = frozenset(fields.get("extensions", ()))
        return Turn(**fields)
    except (AttributeError, KeyError, ParseError, TypeError) as error:
        raise ValueError("This is no stored turn.") from error

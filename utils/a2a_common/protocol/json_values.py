"""Validates the free JSON values of protocol messages (`data`, `metadata`), so that every client can read them.

Such a value is stored with its task and sent again with every list of tasks. A number that JSON cannot say, or
nesting that protocol buffers do not read back, would break each of them for everybody who lists that task.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from google.protobuf.message import Message as ProtoMessage
from google.protobuf.struct_pb2 import ListValue, Struct, Value

MAX_NESTING = 24
"""Levels of objects and lists of one value. Protocol buffers read 100 messages within one another; an object in an object
takes three of them, and a task in a page up to ten more stand around a value."""

MAX_VALUES = 10_000
"""Entries of objects and lists of one request. Reading them takes some 20 ms of the processor, in the event loop."""

_LEVELS = (Struct, ListValue)


def complaint_about(message: ProtoMessage, *, most: int | None = None) -> str | None:
    """Why a protocol message cannot be stored and told, as the end of a sentence; `None` for one that can be.

    Args:
        message: A request, an event, a task.
        most: Entries that it may hold, parts of messages among them; no limit when omitted.
    """
    seen = 0
    waiting: list[tuple[ProtoMessage, int]] = [(message, int(isinstance(message, _LEVELS)))]
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, Value) and item.HasField("number_value") and not math.isfinite(item.number_value):
            return "holds a number that is not finite"
        if depth > MAX_NESTING:
            return f"holds a value that is nested deeper than {MAX_NESTING} levels"
        for inner in _inside(item):
            seen += 1
            if most is not None and seen > most:
                return f"holds more than {most} values"
            waiting.append((inner, depth + isinstance(inner, _LEVELS)))
    return None


def _inside(item: ProtoMessage) -> Iterator[ProtoMessage]:
    """The messages directly inside one; of a free value only what it holds."""
    if isinstance(item, Struct):
        yield from item.fields.values()
    elif isinstance(item, ListValue):
        yield from item.values
    else:
        for field, value in item.ListFields():
            if field.message_type is not None:
                yield from (value,) if isinstance(value, ProtoMessage) else _each(value)


def _each(values: Iterable[ProtoMessage]) -> Iterable[ProtoMessage]:
    """The messages of a repeated field, or of a map."""
    return values.values() if hasattr(values, "values") else values

"""Validates the free JSON values of protocol messages (`data`, `metadata`), so that every client can read them.

Such a value is stored with its task and sent again with every list of tasks. A number that JSON cannot express, or
nesting that protocol buffers do not read back, would break each of them for every client that lists that task.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator

from google.protobuf.message import Message as ProtoMessage
from google.protobuf.struct_pb2 import ListValue, Struct, Value

MAX_NESTING = 24
"""Levels of objects and lists of one value. Protocol buffers read 100 messages within one another; an object in an object
takes three of them, and a task in a page up to ten more stand around a value."""

MAX_VALUES = 10_000
"""Entries of objects and lists of one request. Reading them takes some 20 ms of the processor, in the event loop."""

_FREE = (Struct, ListValue, Value)
_NOT_FINITE = "holds a number that is not finite"
_TOO_DEEP = f"holds a value that is nested deeper than {MAX_NESTING} levels"


class _Complaint(Exception):
    """The text says what is wrong."""


def complaint_about(message: ProtoMessage, *, most: int | None = None) -> str | None:
    """Why a protocol message cannot be stored and sent, as the end of a sentence; `None` if it can.

    Args:
        message: A request, an event, a task.
        most: Entries that it may hold, parts of messages among them; no limit when omitted.
    """
    left = math.inf if most is None else most
    waiting = [message]
    try:
        while waiting:
            item = waiting.pop()
            if isinstance(item, _FREE):
                left -= _values_in(item, left)
            else:
                inner = list(_inside(item))
                waiting += inner
                left -= len(inner)
            if left < 0:
                return f"holds more than {most} values"
    except _Complaint as complaint:
        return str(complaint)
    return None


def _values_in(free: Struct | ListValue | Value, most: float) -> int:
    """How many messages a free value holds; not all are counted where there are more than `most`.

    Raises:
        _Complaint: It cannot be written as JSON.
    """
    if isinstance(free, Value):
        return _checked([free], 0, most + 1) - 1
    return _checked(free.fields.values() if isinstance(free, Struct) else free.values, 1, most)


def _checked(values: Collection[Value], depth: int, most: float) -> int:
    """How many messages some values, so many levels deep, are and hold. Called for each event, so that it visits nothing twice.

    Raises:
        _Complaint: One cannot be written as JSON.
    """
    if depth > MAX_NESTING:
        raise _Complaint(_TOO_DEEP)
    seen = len(values)
    for value in values:
        if seen > most:
            break
        kind = value.WhichOneof("kind")
        if kind == "struct_value":
            seen += 1 + _checked(value.struct_value.fields.values(), depth + 1, most - seen - 1)
        elif kind == "list_value":
            seen += 1 + _checked(value.list_value.values, depth + 1, most - seen - 1)
        elif kind == "number_value" and not math.isfinite(value.number_value):
            raise _Complaint(_NOT_FINITE)
    return seen


def _inside(item: ProtoMessage) -> Iterator[ProtoMessage]:
    """The messages directly inside one."""
    for field, value in item.ListFields():
        if field.message_type is not None:
            yield from (value,) if isinstance(value, ProtoMessage) else _each(value)


def _each(values: Iterable[ProtoMessage]) -> Iterable[ProtoMessage]:
    """The messages of a repeated field, or of a map."""
    return values.values() if hasattr(values, "values") else values

"""The outcome of a tool call as bytes: what the tool returned, and the events that it published. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from utils.a2a_common.graph.tools.events import ToolEvent
from utils.events import ArtifactAdded, DataPart, FileBytes, FileUrl, MetadataReported, StatusText, TextPart

if TYPE_CHECKING:
    from langchain_core.messages import ToolMessage
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
    from langgraph.types import Command

_EVENTS = (ArtifactAdded, MetadataReported, StatusText, TextPart, FileBytes, FileUrl, DataPart)


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How a tool call ended.

    Attributes:
        result: What the graph gets; `ToolMessage` or `Command`.
        events: What the tool published for the user, in order.
    """

    result: ToolMessage | Command[Any]
    events: Sequence[ToolEvent] = ()


def encode(outcome: CallOutcome) -> bytes:
    """The outcome as bytes, in the form that LangGraph gives to values in its checkpoints."""
    _, events = _event_serializer().dumps_typed(list(outcome.events))
    return _serializer().dumps_typed({"result": outcome.result, "events": events})[1]


def decode(encoded: bytes) -> CallOutcome:
    """The outcome in the result of `encode`."""
    values = _serializer().loads_typed(("msgpack", encoded))
    return CallOutcome(values["result"], _event_serializer().loads_typed(("msgpack", values["events"])))


@cache
def _serializer() -> JsonPlusSerializer:
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    return JsonPlusSerializer()


@cache
def _event_serializer() -> JsonPlusSerializer:
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    return JsonPlusSerializer(allowed_msgpack_modules=[(each.__module__, each.__name__) for each in _EVENTS])

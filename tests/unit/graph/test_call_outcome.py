"""What a tool returned and published, stored and read again."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.types import Command

from utils.a2a_common.graph.tools.call_outcome import CallOutcome, decode, encode
from utils.events import ArtifactAdded, DataPart, FileBytes, FileUrl, MetadataReported, StatusText, TextPart

MESSAGE = ToolMessage(
    "found", tool_call_id="c1", name="look", additional_kwargs={"k": {"n": 1}}, status="error"
)


def test_a_message_and_a_command_are_read_as_they_were_written():
    for result in (MESSAGE, Command(update={"messages": [MESSAGE], "basket": ["tea"]}, goto="next")):
        assert decode(encode(CallOutcome(result))).result == result


def test_what_a_tool_published_is_read_as_it_was_written_and_nobody_is_warned(caplog):
    parts: list[Any] = [TextPart("a"), FileBytes(b"\x00\x01", "n"), FileUrl("http://x/"), DataPart([1, None])]
    events: list[Any] = [
        ArtifactAdded(parts, name="all", id="x"),
        StatusText("works"),
        MetadataReported("uri", {"a": 1}),
    ]
    read = decode(encode(CallOutcome(MESSAGE, events)))
    assert list(read.events) == events
    first: Any = read.events[0]
    assert first.parts[1].content == b"\x00\x01"
    assert caplog.messages == []

"""`/context`: what the last model request held, and the line of a compaction."""

from __future__ import annotations

from a2a.types.a2a_pb2 import StreamResponse, TaskStatusUpdateEvent

from multi_agents.cli.view.context import bar, lines
from multi_agents.cli.view.state import TurnView
from utils.a2a_common.client.stream.decode import decode
from utils.a2a_common.protocol.extensions import (
    ACTIVITY_EXTENSION,
    CONTEXT_EXTENSION,
    activity_payload,
    context_payload,
)
from utils.events import ContextCompacted, ContextMeasured

HELD = ContextMeasured(
    {"system": 1_000, "tools": 500, "pinned": 20, "summary": 0, "tail": 5_000}, limit=10_000, window=16_000
)


def told(view: TurnView, uri: str, payload: object) -> None:
    """A status with this in its metadata."""
    for event in decode(StreamResponse(status_update=TaskStatusUpdateEvent(metadata={uri: payload}))):
        view.apply(event)


def test_the_bar_shows_each_kind_that_is_there_by_its_share():
    shown = bar(HELD.by_kind, HELD.limit)
    assert shown == "SSSSS" + "TT" + "P" + "█" * 25 + "·" * 17
    assert bar({"tail": 90_000}, 10_000) == "█" * 50


def test_the_lines_name_shares_and_numbers():
    shown = lines(HELD)
    assert shown[1] == "6,520 of 10,000 tokens (65 %), window 16,000"
    assert shown[-1].split() == ["█", "messages", "shown", "5,000"]


def test_a_turn_remembers_what_its_last_request_held_and_ignores_what_is_malformed():
    view = TurnView()
    told(view, CONTEXT_EXTENSION, context_payload(HELD))
    assert view.task.context == HELD
    told(view, CONTEXT_EXTENSION, {"by_kind": ["no"], "limit": "x"})
    assert view.task.context == HELD


def test_a_compaction_is_one_line_with_shares_and_what_was_done():
    view = TurnView()
    event = ContextCompacted("clear", 7_100, 4_800, 10_000, "m1", 14)
    told(view, ACTIVITY_EXTENSION, activity_payload(event, "supervisor"))
    assert [node.label for node in view.nodes] == ["context 71 % → 48 %, 14 tool results cleared"]

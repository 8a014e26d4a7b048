"""Matches tool results to tool calls in a conversation that may be out of order. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

Place = tuple[int, int]
"""Position of a call: index of its message, and index among the calls of that message."""


class Matched(NamedTuple):
    """The outcome of matching.

    Attributes:
        results: The result of each call that has one.
        dropped: Number of results that belong to no call.
    """

    results: dict[Place, ToolMessage]
    dropped: int


def match_results(history: Sequence[BaseMessage], stand_in: str) -> Matched:
    """Assign each result to its call, and count the results that belong to none.

    If several messages use the same call id, a result belongs to the latest of them before it. A
    result that precedes its call is used only if the call has no other result.

    Args:
        history: Messages in any order.
        stand_in: Content of a synthetic result, which a real one replaces.
    """
    calls = _calls(history)
    matched: dict[Place, ToolMessage] = {}
    early: list[ToolMessage] = []
    dropped = 0
    for index, message in enumerate(history):
        if not isinstance(message, ToolMessage):
            continue
        places = calls.get(message.tool_call_id, [])
        if not any(place[0] < index for place in places):
            early.append(message)
            continue
        place = _latest_before(places, index, matched, stand_in)
        dropped += place is None or place in matched
        if place is not None:
            matched[place] = message
    for message in early:
        free = next((place for place in calls.get(message.tool_call_id, ()) if place not in matched), None)
        if free is None:
            dropped += 1
        else:
            matched[free] = message
    return Matched(matched, dropped)


def _calls(history: Sequence[BaseMessage]) -> dict[str, list[Place]]:
    calls: defaultdict[str, list[Place]] = defaultdict(list)
    for index, message in enumerate(history):
        if isinstance(message, AIMessage):
            for place, call in enumerate(message.tool_calls):
                calls[str(call["id"] or "")].append((index, place))
    return dict(calls)


def _latest_before(
    places: Sequence[Place], index: int, matched: dict[Place, ToolMessage], stand_in: str
) -> Place | None:
    """The first unanswered call of the latest message before `index` that made a call of this id."""
    before = [place for place in places if place[0] < index]
    if not before:
        return None
    latest = [place for place in before if place[0] == before[-1][0]]
    return next((p for p in latest if p not in matched or matched[p].content == stand_in), None)

"""Which tool result belongs to which call, in a conversation that may be out of order. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

Place = tuple[int, int]
"""A call: index of its message, and its place among the calls of that message."""


class Matched(NamedTuple):
    """Which result belongs to which call.

    Attributes:
        results: The result of each call that has one.
        dropped: How many results belong to no call.
        calls: Ids of all calls, as they stand in the messages.
        early: Ids of the results before which no call of that id stands.
        waiting: Those among them that found no call at all.
    """

    results: dict[Place, ToolMessage]
    dropped: int
    calls: frozenset[str]
    early: frozenset[str]
    waiting: frozenset[str]


def match_results(talk: Sequence[BaseMessage], stand_in: str) -> Matched:
    """Give every call the result that was meant for it, and count the results left over.

    An id that several messages use names the call of the latest message before the result. A
    result that stands before its call still counts where nothing better comes.

    Args:
        talk: Messages in any order.
        stand_in: Content of a synthetic result, which gives way to a real one.
    """
    calls = _calls(talk)
    matched: dict[Place, ToolMessage] = {}
    early: list[ToolMessage] = []
    waiting: set[str] = set()
    dropped = 0
    for index, message in enumerate(talk):
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
            waiting.add(message.tool_call_id)
        else:
            matched[free] = message
    ids = frozenset(message.tool_call_id for message in early)
    return Matched(matched, dropped, frozenset(calls), ids, frozenset(waiting))


def _calls(talk: Sequence[BaseMessage]) -> dict[str, list[Place]]:
    calls: defaultdict[str, list[Place]] = defaultdict(list)
    for index, message in enumerate(talk):
        if isinstance(message, AIMessage):
            for place, call in enumerate(message.tool_calls):
                calls[str(call["id"] or "")].append((index, place))
    return dict(calls)


def _latest_before(
    places: Sequence[Place], index: int, matched: dict[Place, ToolMessage], stand_in: str
) -> Place | None:
    """The open call of the latest message before `index` that made this call."""
    before = [place for place in places if place[0] < index]
    if not before:
        return None
    latest = [place for place in before if place[0] == before[-1][0]]
    return next((p for p in latest if p not in matched or matched[p].content == stand_in), None)

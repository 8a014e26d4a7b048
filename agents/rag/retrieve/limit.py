"""How many searches this turn has had, read from its messages, so that turns share nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage


def searches_before(messages: Sequence[BaseMessage], tool: str, call_id: str | None) -> int:
    """Calls of `tool` since the user last spoke that come before the call `call_id`.

    Calls that were made at once count in their order, so that a volley is capped like a sequence.
    """
    count = 0
    for name, id_ in _calls(messages):
        if id_ == call_id:
            break
        count += name == tool
    return count


def _calls(messages: Sequence[BaseMessage]) -> Iterator[tuple[str, str | None]]:
    start = max((at for at, message in enumerate(messages) if message.type == "human"), default=-1) + 1
    for message in messages[start:]:
        for call in getattr(message, "tool_calls", ()):
            yield call["name"], call["id"]

"""What the tools of a turn returned, and the answer made of it when the model cannot write one. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from utils.context.rendering import full_text
from utils.messages.marks import STOPPED_CALL
from utils.messages.results import failure_in
from utils.messages.transcript import active_index

LONGEST_SHOWN = 10_000
"""Characters of one result that a user is shown."""

_HEAD_SHARE = 0.4
_GAP = "\n[…]\n"


@dataclass(frozen=True, slots=True)
class FoundResult:
    """The result of one tool call of the turn.

    Attributes:
        source: The agent or tool.
        asked: The text of the request, where it had one.
        text: What it returned, or why it failed.
        failed: Whether it failed.
    """

    source: str
    asked: str
    text: str
    failed: bool = False


def found_in_turn(messages: Sequence[BaseMessage]) -> list[FoundResult]:
    """The results since the user's last message, oldest first; of equal ones the first."""
    start = active_index(messages)
    turn = messages if start is None else messages[start + 1 :]
    asked = {
        str(call["id"]): str(call["args"].get("request", ""))
        for message in turn
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    }
    results = [message for message in turn if isinstance(message, ToolMessage)]
    found = [_found(each, asked) for each in results if not STOPPED_CALL.of(each)]
    return [each for each in dict.fromkeys(found) if each.text.strip()]


def answer_from(found: Sequence[FoundResult], why: str) -> str:
    """The answer if no model could write one: the reason, and everything that was found."""
    results = [_shown(each) for each in found if not each.failed]
    failures = [f"- {each.source}: {each.text}" for each in found if each.failed]
    missing = ["What could not be done:\n\n" + "\n".join(failures)] if failures else []
    opening = f"The answer could not be put together. {why} This is what was found until then:"
    return "\n\n".join([opening, *results, *missing])


def _found(message: ToolMessage, asked: dict[str, str]) -> FoundResult:
    source, request = str(message.name or "tool"), asked.get(message.tool_call_id, "")
    failure = failure_in(message)
    if failure is not None:
        return FoundResult(source, request, failure, failed=True)
    return FoundResult(source, request, full_text(message))


def _shown(found: FoundResult) -> str:
    asked = f" ({' '.join(found.asked.split())})" if found.asked else ""
    return f"**{found.source}**{asked}\n\n{shortened(found.text, LONGEST_SHOWN)}"


def shortened(text: str, longest: int) -> str:
    """A text in at most `longest` characters: its head and its tail, since a log ends with what went wrong."""
    if len(text) <= longest:
        return text
    keep = longest - len(_GAP)
    head = int(keep * _HEAD_SHARE)
    return f"{text[:head]}{_GAP}{text[head - keep :]}"

"""Builds an answer where the conversation no longer fits the model. Pure.

Two ways down from the usual one: a prompt that fits any model, of a few remarks, the request and the
results; and where no model answers, the results themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from multi_agents.platform_engineer.conversation_digest import LONGEST_RESULT, briefing
from utils.context.rendering import full_text
from utils.messages.results import ToolProblem, parse_result
from utils.messages.transcript import active_index

ALL_RESULTS = 24_000
"""Characters of all results in the prompt together, some 6,000 tokens; beyond eight each gets less than 3,000."""

LONGEST_SHOWN = 10_000
"""Characters of one result that a user is shown."""

_HEAD_SHARE = 0.4
_GAP = "\n[…]\n"
_LONGEST_REQUEST = 8_000


@dataclass(frozen=True, slots=True)
class Found:
    """What one tool call of the turn brought.

    Attributes:
        source: The agent or tool.
        asked: What it was asked, where it was asked in words.
        text: What it returned, or why it failed.
        failed: Whether it failed.
    """

    source: str
    asked: str
    text: str
    failed: bool = False


def found_in_turn(messages: Sequence[BaseMessage]) -> list[Found]:
    """The results since the user's last message, oldest first; of equal ones the first."""
    start = active_index(messages)
    turn = messages if start is None else messages[start + 1 :]
    asked = {
        str(call["id"]): str(call["args"].get("request", ""))
        for message in turn
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    }
    found = [_found(message, asked) for message in turn if isinstance(message, ToolMessage)]
    return [each for each in dict.fromkeys(found) if each.text.strip()]


def synthesis_prompt(messages: Sequence[BaseMessage], turns: int) -> str:
    """The prompt that stands in for a conversation: history, the current request, and the turn's results.

    Args:
        messages: The conversation.
        turns: How many earlier turns it tells of, two remarks each, 200 characters of a remark.
    """
    told, found = briefing(messages, turns), found_in_turn(messages)
    longest = min(LONGEST_RESULT, ALL_RESULTS // max(1, len(found)))
    history = [f"{remark.role.capitalize()}: {' '.join(remark.content.split())}" for remark in told.history]
    sections = [
        *(["**Conversation so far:**\n" + "\n".join(history)] if history else []),
        f"**Current Request:** {_cut(told.request, _LONGEST_REQUEST)}",
        "**Results:**\n\n" + "\n\n".join(_told(each, longest) for each in found),
    ]
    return "\n\n".join(sections)


def answer_from(found: Sequence[Found], why: str) -> str:
    """What a user reads where no model could write the answer: the reason, and all that was found."""
    results = [_shown(each) for each in found if not each.failed]
    failures = [f"- {each.source}: {each.text}" for each in found if each.failed]
    missing = ["What could not be done:\n\n" + "\n".join(failures)] if failures else []
    opening = f"The answer could not be put together. {why} This is what was found until then:"
    return "\n\n".join([opening, *results, *missing])


def _found(message: ToolMessage, asked: dict[str, str]) -> Found:
    text, source = full_text(message), str(message.name or "tool")
    problem = parse_result(text)
    if isinstance(problem, ToolProblem):
        return Found(source, asked.get(message.tool_call_id, ""), problem.message, failed=True)
    return Found(source, asked.get(message.tool_call_id, ""), text, failed=message.status == "error")


def _told(found: Found, longest: int) -> str:
    said = f" was asked: {found.asked}" if found.asked else ""
    verb = "It failed" if found.failed else "It answered"
    return f"{found.source}{said}\n{verb}: {_cut(found.text, longest)}"


def _shown(found: Found) -> str:
    asked = f" ({' '.join(found.asked.split())})" if found.asked else ""
    return f"**{found.source}**{asked}\n\n{_cut(found.text, LONGEST_SHOWN)}"


def _cut(text: str, longest: int) -> str:
    """A text in at most `longest` characters: its head and its tail, since a log says at its end what went wrong."""
    if len(text) <= longest:
        return text
    keep = longest - len(_GAP)
    head = int(keep * _HEAD_SHARE)
    return f"{text[:head]}{_GAP}{text[head - keep :]}"

"""The prompt for an answer if the conversation no longer fits the model: a few remarks, the request, the results. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from multi_agents.platform_engineer.conversation_digest import LONGEST_RESULT, briefing
from utils.a2a_common.graph.model.found_results import FoundResult, found_in_turn, shortened

ALL_RESULTS = 24_000
"""Characters of all results in the prompt together, some 6,000 tokens; beyond eight each gets less than 3,000."""

_LONGEST_REQUEST = 8_000


def synthesis_prompt(messages: Sequence[BaseMessage], turns: int) -> str:
    """The prompt that replaces a conversation: history, the current request, and the turn's results.

    Args:
        messages: The conversation.
        turns: How many earlier turns it contains, two messages each, 200 characters of a remark.
    """
    digest, found = briefing(messages, turns), found_in_turn(messages)
    longest = min(LONGEST_RESULT, ALL_RESULTS // max(1, len(found)))
    history = [f"{remark.role.capitalize()}: {' '.join(remark.content.split())}" for remark in digest.history]
    sections = [
        *(["**Conversation so far:**\n" + "\n".join(history)] if history else []),
        f"**Current Request:** {shortened(digest.request, _LONGEST_REQUEST)}",
        "**Results:**\n\n" + "\n\n".join(_section(each, longest) for each in found),
    ]
    return "\n\n".join(sections)


def _section(found: FoundResult, longest: int) -> str:
    asked = f" was asked: {found.asked}" if found.asked else ""
    verb = "It failed" if found.failed else "It answered"
    return f"{found.source}{asked}\n{verb}: {shortened(found.text, longest)}"

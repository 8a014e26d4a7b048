"""The user's approval of what a foreign agent would get once the conversation has read results of our own agents or of an MCP server. Pure.

A text does not show who wrote it, and a model may obey a text that it reads. So the decision depends on the kind of
agent or tool whose result is in the conversation, never on a text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, ToolMessage

from utils.a2a_common.protocol.shares import Shares
from utils.errors import UpstreamRefused
from utils.messages.approval import LONGEST_SHOWN, check_shown, fenced
from utils.messages.invisible import written_out
from utils.messages.marks import FINISHED_AT, PROBLEM
from utils.messages.question import Question, approval_question
from utils.messages.source import is_of_mcp_server

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

_QUESTION = (
    "May I ask the agent {agent}, which is not one of ours? This conversation holds results of your own agents or tools. "
    "It will be told exactly this:"
)
REFUSED = "not_consented"
DECLINED = (
    "Nothing was sent to {agent}: the user did not say yes. Do not ask for it again unless the user does."
)
TOO_LONG = (
    "Nothing was sent to {agent}: the request is longer than a user can be shown. Make it shorter: "
    f"{LONGEST_SHOWN} characters at most, of which backticks in a row count three times."
)


def needs_confirmation(
    name: str, messages: Sequence[BaseMessage], call_id: str, shares: Shares, is_own: Callable[[str], bool]
) -> bool:
    """Whether the user must confirm before an agent is called.

    Args:
        name: The agent.
        messages: The conversation, up to the call and perhaps further.
        call_id: The tool call that delegates: later messages do not count, so that a second run decides the same.
        shares: What the agent receives by its entry.
        is_own: Whether an agent is ours.
    """
    if is_own(name) or shares is Shares.RESULTS:
        return False
    return any(_is_result(each, is_own) for each in _before(messages, call_id))


def digest_of(name: str, text: str) -> str:
    """The digest to which a yes to this request, to this agent, is bound."""
    return hashlib.sha256(json.dumps([name, text]).encode()).hexdigest()


def question_of(name: str, text: str, origin: str) -> Question | None:
    """The question to the user; `None` if the request is too long to be shown."""
    shown = written_out(text)
    parts = (
        _QUESTION.format(agent=name),
        fenced(shown),
        'Answer "yes" to send it. After any other answer nothing is sent.',
    )
    try:
        check_shown("the request", [shown], "")
        return approval_question(parts, f"Ask {name}?", digest_of(name, text), nothing="", origin=origin)
    except UpstreamRefused:
        return None


def _before(messages: Sequence[BaseMessage], call_id: str) -> Sequence[BaseMessage]:
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, AIMessage) and any(each["id"] == call_id for each in message.tool_calls):
            return messages[:place]
    return messages


def _is_result(message: BaseMessage, is_own: Callable[[str], bool]) -> bool:
    if not isinstance(message, ToolMessage):
        return False
    problem = PROBLEM.of(message)
    has_words = FINISHED_AT.of(message) is not None or (problem is not None and problem.quotes)
    return is_of_mcp_server(message) or (has_words and is_own(message.name or ""))

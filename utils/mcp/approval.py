"""Approval of MCP tool calls: which calls need the user's approval, and the question that is asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from utils.mcp.config import McpServer
from utils.messages.approval import approves, check_shown, fenced
from utils.messages.invisible import written_out
from utils.messages.question import Question, approval_question

if TYPE_CHECKING:
    from mcp import types

DECLINED = (
    "Nothing was called: the answer was not an explicit yes. Do not try again unless the user asks for it."
)
NOTHING = "Nothing was called"
ALL = "*"
"""In `allow`: all tools of the server."""


def asks_first(server: McpServer, offered: types.Tool) -> bool:
    """Whether a call needs approval: the tool is not marked read-only and no setting allows it."""
    return not is_read_only(offered) and ALL not in server.allow and offered.name not in server.allow


def is_read_only(offered: types.Tool) -> bool:
    """Whether the server marks a tool as one that changes nothing."""
    return offered.annotations is not None and offered.annotations.readOnlyHint is True


def may_repeat_calls(offered: types.Tool) -> bool:
    """Whether the server marks a tool as one whose repeated call changes nothing more."""
    return offered.annotations is not None and offered.annotations.idempotentHint is True


def may_call(server: str, tool: str, arguments: Mapping[str, Any]) -> bool:
    """Ask the user whether a tool may be called with these arguments. The first call interrupts the graph run.

    The run resumes with the user's answer, and this function is then called again and returns.

    Raises:
        UpstreamRefused: The arguments are too long to be shown.
    """
    from langgraph.types import interrupt

    question = question_of(server, tool, arguments)
    return approves(interrupt(question.value()), question.digest)


def question_of(server: str, tool: str, arguments: Mapping[str, Any]) -> Question:
    """The question with all arguments, its origin, and a form.

    Raises:
        UpstreamRefused: The arguments are too long to be shown.
    """
    shown = written_out(json.dumps(arguments, ensure_ascii=False, indent=2))
    check_shown(f"what {tool} would be called with", [shown], NOTHING)
    digest = hashlib.sha256(json.dumps([server, tool, arguments], sort_keys=True).encode()).hexdigest()
    parts = [
        f"May I call the tool {written_out(tool)} of the MCP server {server}? These are exactly its arguments:",
        fenced(shown, "json"),
        'Answer "yes" to call it. After any other answer nothing is called.',
    ]
    return approval_question(
        parts, f"Call {written_out(tool)} of {server}?", digest, nothing=NOTHING, origin=server
    )

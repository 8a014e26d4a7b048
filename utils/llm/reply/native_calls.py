"""Completes tool calls that a server returns in a form that LangChain does not accept. Pure but for new IDs."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall
from langchain_core.messages.tool import tool_call

from utils.llm.reply.tool_names import plain_name
from utils.messages.nesting import is_nested_deeper

MOST_LEVELS = 100
"""Levels of lists and objects in a call's arguments: as many as protocol buffers read of JSON, of whose APIs the tools may be."""

_TORN = re.compile(r"-|\.|\.?\d*[eE][+-]?|t|tr|tru|f|fa|fal|fals|n|nu|nul|u[0-9a-fA-F]{0,4}")
"""What may remain of a number, a literal or an escape if JSON breaks off in it."""


def new_id() -> str:
    """An id for a call that has none."""
    return f"call_{uuid4().hex[:24]}"


def mended_calls(message: AIMessage) -> list[ToolCall] | None:
    """The calls whose arguments LangChain could not parse; `None` if one of them cannot be read at all."""
    found = [_mended(call) for call in message.invalid_tool_calls]
    return None if any(call is None for call in found) else [call for call in found if call is not None]


def named_calls(calls: Sequence[ToolCall], tools: Collection[str]) -> list[ToolCall]:
    """The calls under the names of offered tools, each with a unique ID."""
    seen: set[str] = set()
    named = []
    for call in calls:
        own = call["id"] if call["id"] and call["id"] not in seen else new_id()
        seen.add(own)
        named.append(tool_call(name=plain_name(call["name"], tools), args=call["args"], id=own))
    return named


def is_json(arguments: str) -> bool:
    """Whether arguments are complete JSON, and not nested too deeply to be parsed. Empty arguments count as complete."""
    try:
        json.loads(arguments or "{}", strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def is_too_deep(call: ToolCall) -> bool:
    """Whether a call's arguments are nested deeper than `MOST_LEVELS`."""
    return is_nested_deeper(call["args"], MOST_LEVELS)


def breaks_off(arguments: str) -> bool:
    """Whether arguments that are not complete JSON are the beginning of JSON, so that the end may be missing."""
    text = arguments.strip()
    try:
        json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        rest = text[error.pos :]
        return not rest or error.msg.startswith("Unterminated string") or _TORN.fullmatch(rest) is not None
    except RecursionError:
        return False
    return False


def _mended(call: InvalidToolCall) -> ToolCall | None:
    arguments = _object(call["args"] or "")
    if not call["name"] or arguments is None:
        return None
    return tool_call(name=call["name"], args=arguments, id=call["id"])


def _object(text: str) -> dict[str, Any] | None:
    """An object that was encoded twice, or written as a Python `dict`; empty for `null`."""
    for read in (_json, ast.literal_eval):
        value: Any = text
        try:
            for _ in range(2):
                value = read(value) if isinstance(value, str) else value
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if value is None:  # what some servers send for a tool without arguments
            return {}
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return value
    return None


def _json(text: str) -> Any:
    return json.loads(text, strict=False)

"""Completes tool calls that a server returns in a form that LangChain does not take. Pure but for new ids."""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall
from langchain_core.messages.tool import tool_call

from utils.llm.reply.tool_names import plain_name


def new_id() -> str:
    """An id for a call that has none."""
    return f"call_{uuid4().hex[:24]}"


def mended_calls(message: AIMessage) -> list[ToolCall] | None:
    """The calls whose arguments LangChain could not parse; `None` if one of them cannot be read at all."""
    found = [_mended(call) for call in message.invalid_tool_calls]
    return None if any(call is None for call in found) else [call for call in found if call is not None]


def named_calls(calls: Sequence[ToolCall], tools: Collection[str]) -> list[ToolCall]:
    """The calls under the names of offered tools, each with an id of its own."""
    seen: set[str] = set()
    named = []
    for call in calls:
        own = call["id"] if call["id"] and call["id"] not in seen else new_id()
        seen.add(own)
        named.append(tool_call(name=plain_name(call["name"], tools), args=call["args"], id=own))
    return named


def is_json(arguments: str) -> bool:
    """Whether arguments are complete JSON. Empty ones are."""
    try:
        json.loads(arguments or "{}", strict=False)
    except ValueError:
        return False
    return True


def _mended(call: InvalidToolCall) -> ToolCall | None:
    arguments = _object(call["args"] or "")
    if not call["name"] or arguments is None:
        return None
    return tool_call(name=call["name"], args=arguments, id=call["id"])


def _object(text: str) -> dict[str, Any] | None:
    """An object that was encoded twice, or written as Python's `dict`."""
    for read in (_json, ast.literal_eval):
        value: Any = text
        try:
            for _ in range(2):
                value = read(value) if isinstance(value, str) else value
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return value
    return None


def _json(text: str) -> Any:
    return json.loads(text, strict=False)

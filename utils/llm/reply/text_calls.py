"""Parses tool calls that arrive as text, because the model's server does not return them as calls. Pure.

Only a text that consists of calls of offered tools alone is parsed. A text that mentions a call, or shows an example
of one, stays text. The forms: `call_forms.py`; which beginnings are held back: `call_beginnings.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from utils.llm.reply.call_beginnings import may_become_call
from utils.llm.reply.call_forms import (
    ARGUMENTS,
    KEYS,
    NAMES,
    NoCallError,
    WrittenCall,
    json_value,
    plain_text,
    python_calls,
    tools_named,
    values,
)
from utils.llm.reply.native_calls import MOST_LEVELS
from utils.llm.reply.tool_names import plain_name
from utils.messages.nesting import is_nested_deeper


def written_calls(text: str, tools: Collection[str]) -> list[WrittenCall]:
    """The calls that a text consists of; none if it has anything else, or names a tool that is not offered."""
    plain = plain_text(text)
    if not may_become_call(plain, tools):
        return []
    for form in (_json_calls, python_calls):
        try:
            calls = form(plain, tools)
        except (NoCallError, RecursionError):
            continue
        return [] if any(is_nested_deeper(call.arguments, MOST_LEVELS) for call in calls) else calls
    return []


def resembles_call(text: str, tools: Collection[str]) -> bool:
    """Whether a text has the form of a call and names an offered tool, even if it cannot be parsed.

    An object with other data that happens to contain such a name does not count.
    """
    plain = plain_text(text)
    if not may_become_call(plain, tools) or tools_named(plain).isdisjoint(tools):
        return False
    try:
        return not all(_is_data(value) for value in values(plain, tools))
    except (NoCallError, RecursionError):
        return True


def _json_calls(text: str, tools: Collection[str]) -> list[WrittenCall]:
    return [_call(value, tools) for value in values(text, tools)]


def _call(value: Mapping[str, Any], tools: Collection[str]) -> WrittenCall:
    names = [value[key] for key in NAMES if isinstance(value.get(key), str)]
    given = [value[key] for key in ARGUMENTS if key in value]
    if len(names) != 1 or len(given) != 1 or _has_data(value):
        raise NoCallError
    arguments = given[0]
    if isinstance(arguments, str):
        arguments, _ = json_value(arguments.strip(), 0)
    name = plain_name(names[0], tools)
    if name not in tools or not isinstance(arguments, dict):
        raise NoCallError
    return WrittenCall(name, arguments)


def _is_data(value: Mapping[str, Any]) -> bool:
    is_schema = "description" in value
    return _has_data(value) and (is_schema or not any(key in value for key in ARGUMENTS))


def _has_data(value: Mapping[str, Any]) -> bool:
    return any(key not in KEYS for key in value)

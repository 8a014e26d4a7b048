"""Parses tool calls that arrive as text, because the model's server does not return them as calls. Pure.

Qwen2.5-Coder writes a code fence or `<tools>`, Hermes and Qwen3 `<tool_call>`, Mistral `[TOOL_CALLS]`, Llama a bare
object with `parameters`. Only a text that consists of calls of offered tools alone is parsed. A text that mentions
a call, or shows an example of one, stays text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

_WORDS = (
    "tool_call",
    "tool_calls",
    "tools",
    "tool",
    "function",
    "function_call",
    "function-call",
    "python_tag",
)
_FENCES = ("", "json", "tool_call", "tool_calls", "tool_code")
_NAMES = ("name", "tool", "tool_name", "function")
_ARGUMENTS = ("arguments", "parameters", "args")
_BESIDE = ("type", "id", "index")
_KEYS = (*_NAMES, *_ARGUMENTS, *_BESIDE, "tool_calls")
_MISTRAL = "[TOOL_CALLS]"
_PREFIX = "functions."

_TAGS = re.compile(rf"\s+|,|<[|/]*(?:{'|'.join(_WORDS)})\|?>|</[\w-]*>?\Z|\[TOOL_CALLS\]", re.IGNORECASE)
_FENCE = re.compile(rf"\s+|,|```(?:{'|'.join(_FENCES)})(?=\s|\Z)", re.IGNORECASE)
_DOTTED = re.compile(r"functions\.([\w-]+)(?::\d+)?\s*\(?\s*(?=\{)")
_NAMED = re.compile(r"""(?:["']name["']\s*:\s*["']|function[ =]["']?|functions\.)(?:functions\.)?([\w-]+)""")
_JSON = json.JSONDecoder(strict=False)


class WrittenCall(NamedTuple):
    """A tool call in a text."""

    name: str
    arguments: dict[str, Any]


class _NoCallError(ValueError):
    """The text does not consist of calls alone."""


def written_calls(text: str, tools: Collection[str]) -> list[WrittenCall]:
    """The calls that a text consists of; none if it has anything else, or names a tool that is not offered."""
    plain = text.strip()
    try:
        return [_call(value, tools) for value in _values(plain)] if may_become_call(plain) else []
    except (_NoCallError, RecursionError):
        return []


def resembles_call(text: str, tools: Collection[str]) -> bool:
    """Whether a text has the form of a call and names an offered tool, even if it cannot be parsed.

    An object with other data that happens to contain such a name does not count.
    """
    plain = text.strip()
    if not may_become_call(plain) or tools_named(plain).isdisjoint(tools):
        return False
    try:
        return not all(_is_data(value) for value in _values(plain))
    except (_NoCallError, RecursionError):
        return True


def tools_named(text: str) -> set[str]:
    """Names in a text at positions where a call has its tool's name."""
    return {found[1] for found in _NAMED.finditer(text)}


def plain_name(name: str, tools: Collection[str]) -> str:
    """A tool's name without the prefix `functions.` that some models add."""
    short = name.removeprefix(_PREFIX)
    return short if short in tools and name not in tools else name


def may_become_call(text: str) -> bool:
    """Whether a partial text can still become a call; an empty one can."""
    begun = text.lstrip()
    if begun.startswith("`"):
        return _fence_may(begun)
    if begun.startswith("<"):
        return _tag_may(begun)
    if begun.startswith(("{", "[")):
        return begun.startswith(_MISTRAL) or _MISTRAL.startswith(begun) or _json_may(begun)
    named = re.fullmatch(r"functions\.[\w-]*(?:\s*[:({].*)?", begun, re.DOTALL)
    return _PREFIX.startswith(begun) or named is not None


def _fence_may(begun: str) -> bool:
    head, line, body = begun.partition("\n")
    word = head[3:].strip().lower()
    if not "```".startswith(head[:3]):
        return False
    if not line:
        return any(fence.startswith(word) for fence in _FENCES)
    return word in _FENCES and (not body.strip() or (body.lstrip()[0] in "[{" and _json_may(body)))


def _tag_may(begun: str) -> bool:
    tag = re.match(r"<\|?([\w-]*)", begun)
    assert tag is not None
    word = tag[1].lower()
    return any(each.startswith(word) for each in _WORDS) if tag.end() == len(begun) else word in _WORDS


def _json_may(begun: str) -> bool:
    inner = begun.lstrip("[{ \t\r\n")
    if not inner:
        return True
    key = re.match(r'"([^"]*)("?)', inner)
    if key is None:
        return False
    return key[1] in _KEYS if key[2] else any(each.startswith(key[1]) for each in _KEYS)


def _values(text: str) -> list[Mapping[str, Any]]:
    """The JSON objects that a text consists of, without tags and fences."""
    between = _FENCE if text.startswith("`") else _TAGS
    found: list[Mapping[str, Any]] = []
    at = 0
    while at < len(text):
        if gap := between.match(text, at):
            at = gap.end()
        elif dotted := _DOTTED.match(text, at):
            arguments, at = _decoded(text, dotted.end())
            found.append({"name": dotted[1], "arguments": arguments})
            at += text.startswith(")", at)
        else:
            value, at = _decoded(text, at)
            found.extend(_objects(value))
    if not found:
        raise _NoCallError
    return found


def _decoded(text: str, at: int) -> tuple[Any, int]:
    try:
        return _JSON.raw_decode(text, at)
    except ValueError as error:
        raise _NoCallError from error


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, dict) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, dict):
            raise _NoCallError
        inner = each.get("function")
        yield {**each, **inner, "function": None} if isinstance(inner, dict) else each


def _call(value: Mapping[str, Any], tools: Collection[str]) -> WrittenCall:
    names = [value[key] for key in _NAMES if isinstance(value.get(key), str)]
    given = [value[key] for key in _ARGUMENTS if key in value]
    if len(names) != 1 or len(given) != 1 or _has_data(value):
        raise _NoCallError
    arguments = given[0]
    if isinstance(arguments, str):
        arguments, _ = _decoded(arguments.strip(), 0)
    name = plain_name(names[0], tools)
    if name not in tools or not isinstance(arguments, dict):
        raise _NoCallError
    return WrittenCall(name, arguments)


def _is_data(value: Mapping[str, Any]) -> bool:
    return _has_data(value) and not any(key in value for key in _ARGUMENTS)


def _has_data(value: Mapping[str, Any]) -> bool:
    return any(key not in _KEYS for key in value)

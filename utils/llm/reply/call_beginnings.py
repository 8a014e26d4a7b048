"""Decides whether the beginning of a text can still become a tool call. Pure.

Text is held back from the user only while it can: if it begins with a fence, `<`, `{`, `[` or the name of an
offered tool.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from utils.llm.reply.call_forms import FENCES, KEYS, MISTRAL, TAGS, tools_named

_PREFIX = "functions."
_BEHIND_NAME = re.compile(r"(?::\d*)?(?:\.(?:call)?)?\s*(?:\(|\{|\[(?:ARGS|CALL_ID)|<|\Z)", re.IGNORECASE)
_CHANNELS = ("channel", "start")  # gpt-oss
_NAMESPACE = "minimax:"
_ARGUMENTS = re.compile(r"""["'](?:arguments|parameters|args)["']\s*:|<parameter[= ]|<arg_key>|\[ARGS\]|\(""")


def may_become_call(text: str, tools: Collection[str] = ()) -> bool:
    """Whether a partial text can still become a call; an empty one can."""
    begun = text.lstrip().replace("\uff5c", "|").replace("\u2581", "_")
    if begun.startswith("`"):
        return _fence_may(begun, tools)
    if begun.startswith("<"):
        return _tag_may(begun)
    if begun.startswith(("{", "[")):
        return begun.startswith(MISTRAL) or MISTRAL.startswith(begun) or _json_may(begun, tools)
    return _named_may(begun, tools)


def certainly_call(text: str, tools: Collection[str]) -> bool:
    """Whether a beginning names an offered tool and its arguments, so that it is no longer in doubt."""
    begun = text.lstrip()
    named = not tools_named(begun).isdisjoint(tools) or any(begun.startswith(tool) for tool in tools)
    return named and _ARGUMENTS.search(begun) is not None


def _named_may(begun: str, tools: Collection[str]) -> bool:
    short = begun.removeprefix(_PREFIX)
    if short != begun and not tools:
        return re.fullmatch(r"[\w-]*(?:\s*[:({].*)?", short, re.DOTALL) is not None
    if _PREFIX.startswith(begun):
        return True
    return any(
        tool.startswith(short) or (short.startswith(tool) and _BEHIND_NAME.match(short, len(tool)))
        for tool in tools
    )


def _fence_may(begun: str, tools: Collection[str]) -> bool:
    head, line, body = begun.partition("\n")
    word = head[3:].strip().lower()
    if not "```".startswith(head[:3]):
        return False
    if not line:
        return any(fence.startswith(word) for fence in FENCES)
    if word not in FENCES:
        return False
    inner = body.lstrip()
    if inner.startswith(("{", "[")):
        return _json_may(inner, tools)
    return "print(".startswith(inner) or _named_may(inner.removeprefix("print("), tools)


def _tag_may(begun: str) -> bool:
    tag = re.match(rf"<[|]?(?:{_NAMESPACE})?([\w-]*)", begun)
    assert tag is not None
    word, words = tag[1].lower(), (*TAGS, *_CHANNELS)
    if tag.end() == len(begun):
        return any(each.startswith(word) for each in (*words, _NAMESPACE))
    if word in _CHANNELS:
        return begun[tag.end()] == "|" and "final<|message|>" not in begun
    return word in words


def _json_may(begun: str, tools: Collection[str]) -> bool:
    inner = begun.lstrip("[{ \t\r\n")
    if not inner:
        return True
    if begun.startswith("[") and re.match(r"[A-Za-z_]", inner):
        return any(tool.startswith(inner) or inner.startswith(f"{tool}(") for tool in tools)
    key = re.match(r'"([^"]*)("?)', inner)
    if key is None:
        return False
    return key[1] in KEYS if key[2] else any(each.startswith(key[1]) for each in KEYS)

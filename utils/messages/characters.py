"""Texts without halves of characters.

A half of a surrogate pair is a code point of a Python string and no character: it cannot be encoded, so nothing can store or send it.
It comes from names of files that are not UTF-8, from JSON that was cut within an emoji, and from strings that escape one half alone.
"""

from __future__ import annotations

import dataclasses
import operator
import re
from typing import TypeVar, cast

from pydantic import BaseModel

T = TypeVar("T")

_HALF = re.compile("[\ud800-\udfff]")
_FIRST_HALVES = ("\ud800", "\udbff")
_ESCAPES = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPED = re.compile(
    rb"(?<!\\)((?:\\\\)*+)(?:(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def whole_characters(text: str) -> str:
    """The text with two halves side by side joined, and each other half replaced by U+FFFD."""
    if _HALF.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def of_whole_characters(value: T) -> T:
    """The same of all strings in a value: in lists, tuples, dictionaries, data classes and models of pydantic.

    What has no half is returned itself, as is what is nested deeper than Python walks: nothing takes that as an argument.
    """
    try:
        return cast("T", _mended(value))
    except RecursionError:
        return value


def _mended(value: object) -> object:
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        mended = [_mended(each) for each in value]
        return value if all(map(operator.is_, mended, value)) else type(value)(mended)
    if isinstance(value, dict):
        pairs = [(_mended(key), _mended(each)) for key, each in value.items()]
        same = all(key is old and each is value[old] for (key, each), old in zip(pairs, value, strict=True))
        return value if same else dict(pairs)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {each.name: getattr(value, each.name) for each in dataclasses.fields(value) if each.init}
        changed = {name: new for name, old in fields.items() if (new := _mended(old)) is not old}
        return dataclasses.replace(value, **changed) if changed else value
    if isinstance(value, BaseModel):
        changed = {name: new for name, old in value.__dict__.items() if (new := _mended(old)) is not old}
        return value.model_copy(update=changed) if changed else value
    return value


def escaped_halves_replaced(body: bytes) -> bytes:
    r"""A JSON body in which each escape of half a character (`\ud83d` without its other half) is that of U+FFFD: as many bytes."""
    if _ESCAPES.search(body) is None:
        return body
    return _ESCAPED.sub(lambda match: match[0] if match[2] else match[1] + rb"\ufffd", body)


def repaired_json(body: bytes) -> bytes:
    """A JSON body in which each lone surrogate and each byte that is not UTF-8 is U+FFFD."""
    body = escaped_halves_replaced(body)
    try:
        body.decode()
    except UnicodeDecodeError:
        return body.decode(errors="replace").encode()
    return body


class PairJoiner:
    """Joins the halves of characters that a stream cut between two pieces. Made per stream."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """What is whole of the stream so far and was not returned yet."""
        text, self._held = self._held + piece, ""
        if text and _FIRST_HALVES[0] <= text[-1] <= _FIRST_HALVES[1]:
            text, self._held = text[:-1], text[-1]
        return whole_characters(text)

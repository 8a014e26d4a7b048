"""Separates a model's reasoning from its answer, if the server returns both as text. Pure.

Reasoning models begin with `<think>…</think>`. If the chat template writes the opening tag, the text has
the closing tag only.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_OPEN = re.compile(r"\s*<(think|thinking)>", re.IGNORECASE)
_LONE_CLOSE = re.compile(r"</think(?:ing)?>[ \t]*(?=\n|\Z)", re.IGNORECASE)
_TAGS = ("<think>", "<thinking>")


class Spoken(NamedTuple):
    """A model's reasoning, and its answer."""

    thoughts: str
    answer: str


def split_thoughts(text: str) -> Spoken:
    """The reasoning at the beginning of a text, and the answer after it. Without reasoning the text is the answer.

    If the reasoning does not end, there is no answer.
    """
    spoken = opening_thoughts(text)
    if spoken is None:
        return Spoken(text, "")
    if spoken.thoughts:
        return spoken
    return after_lone_close(text) or Spoken("", text)


def opening_thoughts(text: str) -> Spoken | None:
    """The text split after the reasoning at its beginning; `None` while that has not ended."""
    thoughts, rest = "", text
    while opened := _OPEN.match(rest):
        end = re.compile(f"</{opened[1]}>", re.IGNORECASE).search(rest, opened.end())
        if end is None:
            return None
        thoughts += rest[opened.end() : end.start()]
        rest = rest[end.end() :]
    return Spoken(thoughts, rest.lstrip()) if rest is not text else Spoken("", text)


def after_lone_close(text: str, start: int = 0) -> Spoken | None:
    """The text split at a closing tag without an opening one, at a line's end after `start`; `None` if there is none."""
    closed = _LONE_CLOSE.search(text, start)
    if closed is None or any(tag in text[: closed.start()].lower() for tag in _TAGS):
        return None
    return Spoken(text[: closed.start()], text[closed.end() :].lstrip())


def may_open_thought(text: str) -> bool:
    """Whether a partial text can still become an opening tag."""
    begun = text.lstrip().lower()
    return any(tag.startswith(begun) for tag in _TAGS)

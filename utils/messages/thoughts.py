"""A model's thoughts apart from its answer, where a server passes both on as text. Pure.

Reasoning models open with `<think>…</think>`. Chat templates that write the opening tag themselves leave a
text in which only the closing one stands.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_OPEN = re.compile(r"\s*<(think|thinking)>", re.IGNORECASE)
_LONE_CLOSE = re.compile(r"</think(?:ing)?>[ \t]*(?=\n|\Z)", re.IGNORECASE)
_TAGS = ("<think>", "<thinking>")


class Spoken(NamedTuple):
    """What a model thought, and what it said."""

    thoughts: str
    answer: str


def split_thoughts(text: str) -> Spoken:
    """The thoughts at the beginning of a text, and the answer after them; a text without thoughts is the answer.

    A thought that does not end leaves no answer.
    """
    spoken = opening_thoughts(text)
    if spoken is None:
        return Spoken(text, "")
    if spoken.thoughts:
        return spoken
    return after_lone_close(text) or Spoken("", text)


def opening_thoughts(text: str) -> Spoken | None:
    """The text cut behind the thoughts that it opens with; `None` while one of them has not ended."""
    thoughts, rest = "", text
    while opened := _OPEN.match(rest):
        end = re.compile(f"</{opened[1]}>", re.IGNORECASE).search(rest, opened.end())
        if end is None:
            return None
        thoughts += rest[opened.end() : end.start()]
        rest = rest[end.end() :]
    return Spoken(thoughts, rest.lstrip()) if rest is not text else Spoken("", text)


def after_lone_close(text: str, start: int = 0) -> Spoken | None:
    """The text cut at a closing tag at the end of a line that nothing opened, from `start` on; `None` without one."""
    closed = _LONE_CLOSE.search(text, start)
    if closed is None or any(tag in text[: closed.start()].lower() for tag in _TAGS):
        return None
    return Spoken(text[: closed.start()], text[closed.end() :].lstrip())


def may_open_thought(text: str) -> bool:
    """Whether a text that has just begun can still become an opening tag."""
    begun = text.lstrip().lower()
    return any(tag.startswith(begun) for tag in _TAGS)

"""Decides which text of an unfinished model reply can be shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import NamedTuple

from utils.llm.reply.call_beginnings import certainly_call, may_become_call
from utils.llm.reply.thoughts import (
    after_lone_close,
    may_open_thought,
    opening_thoughts,
    unfinished_thoughts,
)
from utils.messages.characters import PairJoiner

LONGEST_HOLD = 2.0
"""Seconds that a text is held back because it may become a tool call, unless it names a tool and its arguments."""

_LONGEST_TAG = len("</thinking>\n")


class Shown(NamedTuple):
    """The next text to show, whether it replaces what was shown before, and the next reasoning."""

    text: str
    replaces: bool = False
    thoughts: str = ""


class AnswerStream:
    """Holds text back while it can still become a thought or a tool call; all other text passes at once.

    One is created per reply.

    Args:
        tools: Names of the tools that are offered to the model.
        clock: A monotonic clock, in seconds.
    """

    def __init__(self, tools: Collection[str] = (), clock: Callable[[], float] = time.monotonic) -> None:
        self._tools = tools
        self._clock = clock
        self._held = ""
        self._held_since: float | None = None
        self._thought = 0
        self._said = ""
        self._open = False
        self._characters = PairJoiner()

    def feed(self, text: str) -> Shown:
        """What to show after the next chunk."""
        text = self._characters.feed(text)
        if not self._open:
            self._held += text
            return self._release()
        seen = len(self._said)
        self._said += text
        closes = "\n" in text or "]" in text
        spoken = after_lone_close(self._said, max(0, seen - _LONGEST_TAG)) if closes else None
        if spoken is None:
            return Shown(text)
        self._said, self._held, self._open = "", spoken.answer, False
        return self._release()._replace(replaces=True, thoughts=spoken.thoughts)

    def close(self, answer: str) -> Shown:
        """What to show at the end, given the final text of the answer."""
        if answer.startswith(self._said):
            return Shown(answer[len(self._said) :])
        return Shown(answer, replaces=True)

    def _release(self) -> Shown:
        spoken = opening_thoughts(self._held)
        if spoken is None:
            return Shown("", thoughts=self._new_thoughts(unfinished_thoughts(self._held)))
        thoughts = self._new_thoughts(spoken.thoughts)
        if may_open_thought(spoken.answer) or self._may_be_call(spoken.answer):
            return Shown("", thoughts=thoughts)
        self._open, self._said, self._held = True, spoken.answer, ""
        return Shown(spoken.answer, thoughts=thoughts)

    def _new_thoughts(self, thoughts: str) -> str:
        new, self._thought = thoughts[self._thought :], max(self._thought, len(thoughts))
        return new

    def _may_be_call(self, text: str) -> bool:
        if not may_become_call(text, self._tools):
            return False
        if not text.strip():
            return True
        now = self._clock()
        self._held_since = now if self._held_since is None else self._held_since
        return now - self._held_since < LONGEST_HOLD or certainly_call(text, self._tools)

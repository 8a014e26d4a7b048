"""Decides which text of an unfinished model answer can be shown."""

from __future__ import annotations

from typing import NamedTuple

from utils.messages.thoughts import after_lone_close, may_open_thought, opening_thoughts
from utils.messages.written_calls import may_become_call

_LONGEST_TAG = len("</thinking>\n")


class Shown(NamedTuple):
    """The next text to show, and whether it replaces what was shown before."""

    text: str
    anew: bool = False


class AnswerStream:
    """Holds a text back for as long as it can still be a thought or a tool call; all else passes at once.

    Made per answer.
    """

    def __init__(self) -> None:
        self._held = ""
        self._said = ""
        self._open = False

    def feed(self, text: str) -> Shown:
        """What to show after the next piece."""
        if not self._open:
            self._held += text
            return Shown(self._release())
        seen = len(self._said)
        self._said += text
        spoken = after_lone_close(self._said, max(0, seen - _LONGEST_TAG)) if "\n" in text else None
        if spoken is None:
            return Shown(text)
        self._said, self._held, self._open = "", spoken.answer, False
        return Shown(self._release(), anew=True)

    def close(self, whole: str) -> Shown:
        """What to show at the end, when the text is known that the answer has after it was read."""
        if whole.startswith(self._said):
            return Shown(whole[len(self._said) :])
        return Shown(whole, anew=True)

    def _release(self) -> str:
        spoken = opening_thoughts(self._held)
        if spoken is None or may_open_thought(spoken.answer) or may_become_call(spoken.answer):
            return ""
        self._open, self._said, self._held = True, spoken.answer, ""
        return spoken.answer

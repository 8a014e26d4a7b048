"""The text of a turn's answer, as far as it was said."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from utils.events import TextDelta, TextRestarted
from utils.llm.reply.answer_stream import AnswerStream, Shown


class AnswerText:
    """What a turn has said, and whether the next words take its place.

    Args:
        tools: Names of the agent's tools.

    Attributes:
        text: What was said.
        taken_back: Whether what was said last was taken back, and nothing said in its place.
    """

    def __init__(self, tools: Collection[str]) -> None:
        self._tools = tools
        self._stream = AnswerStream(tools)
        self._restart = self._ended = False
        self.text = ""
        self.taken_back = False

    @property
    def said(self) -> bool:
        """Whether the answer has text so far."""
        return bool(self.text.strip()) and not self._restart

    def feed(self, piece: str) -> Shown:
        """Read the next piece of a model's reply."""
        return self._stream.feed(piece)

    def close(self, reply: str) -> Shown:
        """What was held back of a reply, now that it is whole."""
        stream, self._stream = self._stream, AnswerStream(self._tools)
        return stream.close(reply)

    def say(self, shown: Shown, origin: str, *, told: bool) -> Iterator[TextRestarted | TextDelta]:
        """Add words of the agent `origin`; their events if they are `told` now, rather than at the end of the turn."""
        self._restart = self._restart or (shown.replaces and bool(self.text))
        if not shown.text:
            return
        self.taken_back = False
        if self._restart or (self._ended and self.text):
            self._restart = self._ended = False
            self.text = ""
            if told:
                yield TextRestarted()
        self.text += shown.text
        if told:
            yield TextDelta(shown.text, origin)

    def ends(self, *, calls: bool, last: bool) -> None:
        """A reply of a model has ended: with calls it was a remark and no answer; else more words replace it, unless it is the `last`."""
        if calls and self.text:
            self._restart = True
        self._ended = not calls and not last

    def take_back(self) -> None:
        """What was said is not the answer."""
        self._stream = AnswerStream(self._tools)
        self._restart = self.taken_back = bool(self.text)

    def retry(self) -> None:
        """The model is asked once more: its next words replace what was said."""
        self._stream = AnswerStream(self._tools)
        self._restart = self._restart or bool(self.text)

"""The text of a turn's answer, as far as the model wrote it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from utils.events import TextDelta, TextRestarted
from utils.llm.reply.answer_stream import AnswerStream, Shown


class AnswerText:
    """The text of the answer so far, and whether the next text replaces it.

    Args:
        tools: Names of the agent's tools.

    Attributes:
        text: The text.
        taken_back: Whether the last text was retracted and not replaced.
    """

    def __init__(self, tools: Collection[str]) -> None:
        self._tools = tools
        self._stream = AnswerStream(tools)
        self._restart = self._ended = False
        self.text = ""
        self.taken_back = False

    @property
    def has_text(self) -> bool:
        """Whether the answer has text so far."""
        return bool(self.text.strip()) and not self._restart

    def feed(self, piece: str) -> Shown:
        """Read the next piece of a model's reply."""
        return self._stream.feed(piece)

    def close(self, reply: str) -> Shown:
        """The rest of a reply that was held back until it was complete."""
        stream, self._stream = self._stream, AnswerStream(self._tools)
        return stream.close(reply)

    def add(self, shown: Shown, origin: str, *, emit: bool) -> Iterator[TextRestarted | TextDelta]:
        """Add text of the agent `origin`; yield its events if `emit`, else the text waits for the end of the turn."""
        self._restart = self._restart or (shown.replaces and bool(self.text))
        if not shown.text:
            return
        self.taken_back = False
        if self._restart or (self._ended and self.text):
            self._restart = self._ended = False
            self.text = ""
            if emit:
                yield TextRestarted()
        self.text += shown.text
        if emit:
            yield TextDelta(shown.text, origin)

    def ends(self, *, calls: bool, last: bool) -> None:
        """A reply of a model has ended: with calls it was a remark and no answer; otherwise later text replaces it, unless it is the `last`."""
        if calls and self.text:
            self._restart = True
        self._ended = not calls and not last

    def take_back(self) -> None:
        """Mark the text so far as no answer."""
        self._stream = AnswerStream(self._tools)
        self._restart = self.taken_back = bool(self.text)

    def retry(self) -> None:
        """The model is called again: its next text replaces the text so far."""
        self._stream = AnswerStream(self._tools)
        self._restart = self._restart or bool(self.text)

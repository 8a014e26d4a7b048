"""How a turn ends: with a question, as its calls ended, or with what it said and added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from utils.a2a_common.graph.run.ended_calls import EndedCalls
from utils.a2a_common.protocol.parts import part_kept
from utils.events import Completed, Failed, InputRequired, Partial
from utils.messages.question import Question


@dataclass(slots=True)
class TurnEnd:
    """What decides the end of one turn.

    Attributes:
        calls: The tool calls that have ended.
        question: What the user is asked.
        partial: Why the answer is only a part.
        added: Whether the agent itself added an artifact, which is an answer without a word.
    """

    calls: EndedCalls = field(default_factory=EndedCalls)
    question: InputRequired | None = None
    partial: Partial | None = None
    added: bool = False

    def ask(self, interrupts: Sequence[Any], agent: str) -> None:
        """Ask the user what the first of the interrupts asks: the others come after its answer."""
        asked = Question.of(interrupts[0].value)
        parts = [part_kept(part) for part in asked.parts]
        self.question = InputRequired(asked.text, asked.origin or agent, asked.form, asked.auth, parts)

    def repeats(self, text: str) -> bool:
        """Whether an answer that was held back, since the turn's calls failed, says more than their sentences: it is told then."""
        return self.question is None and self.calls.failed and self.calls.says_more(text)

    def event(self, *, said: bool) -> InputRequired | Failed | Completed:
        """The last event of the turn; `said` tells whether it has an answer in words."""
        if self.question is not None:
            return self.question
        if (failure := self.calls.failure) is not None:
            return failure
        if not said and not self.added:
            return Failed("empty_response", "The model gave no answer. Please try again.", retryable=True)
        return Completed(self.partial)

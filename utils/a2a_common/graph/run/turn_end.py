"""How a turn ends: with a question, as its calls ended, or with its text and artifacts."""

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
        question: The question to the user.
        partial: Why the answer is only a part.
        added: Whether the agent itself added an artifact, which is an answer without text.
    """

    calls: EndedCalls = field(default_factory=EndedCalls)
    question: InputRequired | None = None
    partial: Partial | None = None
    added: bool = False

    def ask(self, interrupts: Sequence[Any], agent: str) -> None:
        """Ask the user the question of the first interrupt: the others follow after its answer."""
        asked = Question.of(interrupts[0].value)
        parts = [part_kept(part) for part in asked.parts]
        self.question = InputRequired(asked.text, asked.origin or agent, asked.form, asked.auth, parts)

    def shows_held_back(self, text: str) -> bool:
        """Whether the text that was held back because calls failed is shown: only if it says more than their errors."""
        return self.question is None and self.calls.failed and self.calls.adds_information(text)

    def event(self, *, has_text: bool) -> InputRequired | Failed | Completed:
        """The last event of the turn; `has_text` is whether it has an answer in text."""
        if self.question is not None:
            return self.question
        if (failure := self.calls.failure) is not None:
            return failure
        if not has_text and not self.added:
            return Failed("empty_response", "The model gave no answer. Please try again.", retryable=True)
        return Completed(self.partial)

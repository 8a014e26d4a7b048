"""How the tool calls of one turn ended, and whether the turn fails by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from langchain_core.messages import ToolMessage

from utils.errors import ArgumentsRefused, OutcomeUnknown
from utils.events import Failed
from utils.messages.marks import PROBLEM, STOPPED_CALL, Problem


@dataclass(slots=True)
class EndedCalls:
    """The calls of one turn that have ended.

    Attributes:
        problems: What failed for good.
        unknown: The calls of which it is unknown whether they had their effect.
        answers: How many succeeded.
    """

    problems: list[Problem] = field(default_factory=list)
    unknown: list[Problem] = field(default_factory=list)
    answers: int = 0

    def take(self, message: ToolMessage) -> None:
        """A call has ended with this result."""
        problem = PROBLEM.of(message)
        self.take_unknown(message)
        if problem and problem.fatal:
            self.problems.append(problem)
        elif problem and problem.code == ArgumentsRefused.code:
            return  # nothing was run: neither a failure nor an answer
        elif not STOPPED_CALL.of(message):
            self.answers += 1

    def take_unknown(self, message: ToolMessage) -> None:
        """A call of an earlier turn of the task has ended with this result: it counts if its outcome is unknown."""
        problem = PROBLEM.of(message)
        if problem and problem.code == OutcomeUnknown.code:
            self.unknown.append(problem)

    @property
    def failed(self) -> bool:
        """Whether the turn fails unless another call succeeds: a call that it needed failed for good, and none succeeded."""
        return bool(self.problems) and not self.answers and not self.unknown

    @property
    def failure(self) -> Failed | None:
        """How the turn ends by its calls; `None` where they do not end it."""
        if (
            self.unknown
        ):  # whatever else was done: who reads the state alone must not take the change for made
            return Failed(OutcomeUnknown.code, _sentences(self.unknown))
        if self.failed:
            again = all(problem.retryable for problem in self.problems)
            return Failed(self.problems[0].code, _sentences(self.problems), retryable=again)
        return None

    def adds_information(self, text: str) -> bool:
        """Whether a model's text about failed calls says more than their error messages."""
        for problem in self.problems:
            text = text.replace(problem.message, "")
        return any(character.isalnum() for character in text)


def _sentences(problems: Sequence[Problem]) -> str:
    """The error messages of several failed calls, each once."""
    return " ".join(dict.fromkeys(problem.message for problem in problems))

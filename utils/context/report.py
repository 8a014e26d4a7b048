"""What the pipeline did to one request, in numbers that an event, a log line and a test share. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from langchain_core.messages import BaseMessage

from utils.events import ContextCompacted, ContextMeasured


@dataclass(frozen=True, slots=True)
class Changed:
    """Messages with the same ids in the same order as before, and artifacts by handle.

    Attributes:
        messages: The messages; untouched ones are the same objects.
        artifacts: Full texts behind handles that now stand in the messages.
        details: Sentences for the log, one for each notable change.
        failed: How many summariser calls failed and were replaced by an extract.
    """

    messages: list[BaseMessage]
    artifacts: Mapping[str, str] = field(default_factory=dict)
    details: tuple[str, ...] = ()
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One stage that changed something. Tokens are of the whole request.

    Attributes:
        strategy: Name of the stage.
        before: Tokens before it.
        after: Tokens after it.
        touched: Messages that it changed or left out.
        details: Sentences for the log.
        failed: Summariser calls that an extract stood in for.
    """

    strategy: str
    before: int
    after: int
    touched: int
    details: tuple[str, ...] = ()
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """What became of one request.

    Attributes:
        before: Tokens that the request would have had, in tokens as the provider charges them.
        after: Tokens that it has.
        limit: Tokens that it may have: the input budget.
        window: The model's window.
        counted: Tokens as tiktoken counts them, for calibration.
        by_kind: Tokens of system prompt, tools, pinned constraints, summary and messages.
        steps: Stages that changed something, in order.
        interrupted: Tool calls that got a synthetic result.
        dropped: Stray or duplicate results left out.
        clipped_request: Whether the active request is shown in part, which the user is told.
        violations: Rules that did not hold before the last resort; a bug if there is any.
    """

    before: int
    after: int
    limit: int
    window: int
    counted: int
    by_kind: dict[str, int]
    steps: tuple[Step, ...] = ()
    interrupted: tuple[str, ...] = ()
    dropped: int = 0
    clipped_request: bool = False
    violations: tuple[str, ...] = ()

    def events(self, cut: str | None) -> list[ContextCompacted]:
        """One event for each step."""
        return [
            ContextCompacted(step.strategy, step.before, step.after, self.limit, cut, step.touched)
            for step in self.steps
        ]

    @property
    def measured(self) -> ContextMeasured:
        """What the request holds."""
        return ContextMeasured(self.by_kind, self.limit, self.window)


def charged(step: Step, ratio: float) -> Step:
    """The step in tokens as the provider charges them."""
    return replace(step, before=round(step.before * ratio), after=round(step.after * ratio))

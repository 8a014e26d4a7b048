"""What the pipeline did to one request, as data for events, log lines and tests. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from langchain_core.messages import BaseMessage

from utils.events import ContextCompacted, ContextMeasured


@dataclass(frozen=True, slots=True)
class Changed:
    """Result of a strategy: the same messages in the same order, some with other content.

    Attributes:
        messages: The messages; unchanged ones are the same objects.
        artifacts: Full texts of the handles that the messages now name.
        details: Sentences for the log, one for each notable change.
        failed: Number of summariser calls that failed and were replaced by an extract.
    """

    messages: list[BaseMessage]
    artifacts: Mapping[str, str] = field(default_factory=dict)
    details: tuple[str, ...] = ()
    failed: int = 0


@dataclass(frozen=True, slots=True)
class StageResult:
    """One stage that changed something. Token numbers are those of the complete request.

    Attributes:
        strategy: Name of the stage.
        before: Tokens before it.
        after: Tokens after it.
        touched: Number of messages that it changed or left out.
        details: Sentences for the log.
        failed: Number of summariser calls that were replaced by an extract.
    """

    strategy: str
    before: int
    after: int
    touched: int
    details: tuple[str, ...] = ()
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """Result of the pipeline for one request, in tokens as the provider charges them.

    Attributes:
        before: Tokens of the request before the stages.
        after: Tokens of the request as sent.
        limit: The input budget.
        window: The model's window.
        counted: Tokens as tiktoken counts them, for calibration.
        by_kind: Tokens of system prompt, tools, pinned constraints, summary and messages.
        steps: Stages that changed something, in order.
        interrupted: Tool calls that got a synthetic result.
        dropped: Number of stray or duplicate results left out.
        clipped_request: Whether the active request was clipped.
        violations: Invariants that were violated before the fallback; any of them is a bug.
        ratio: Charged tokens per counted token.
    """

    before: int
    after: int
    limit: int
    window: int
    counted: int
    by_kind: dict[str, int]
    steps: tuple[StageResult, ...] = ()
    interrupted: tuple[str, ...] = ()
    dropped: int = 0
    clipped_request: bool = False
    violations: tuple[str, ...] = ()
    ratio: float = 1.0

    def events(self, cut: str | None) -> list[ContextCompacted]:
        """One event for each step."""
        return [
            ContextCompacted(step.strategy, step.before, step.after, self.limit, cut, step.touched)
            for step in self.steps
        ]

    @property
    def measured(self) -> ContextMeasured:
        """Token usage of the request by kind of content."""
        return ContextMeasured(self.by_kind, self.limit, self.window)


def charged(step: StageResult, ratio: float) -> StageResult:
    """The step with its counted tokens converted to charged ones."""
    return replace(step, before=round(step.before * ratio), after=round(step.after * ratio))

"""Measures one turn: counts of its events, outcome, duration, and time to the first text."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import structlog

from utils.events import (
    AgentEvent,
    Completed,
    ContextCompacted,
    DelegationFinished,
    Failed,
    InputRequired,
    MessageAnswer,
    ModelRetried,
    Rejected,
    TextDelta,
    Usage,
    UsageReported,
)
from utils.observability import catalogue
from utils.observability.metrics import Metrics, Observation

log = structlog.get_logger(__name__)

Clock = Callable[[], float]

DIRECTIONS = ("input", "output", "cached")


class TurnMeter:
    """Counts the events of one turn of one agent.

    Attributes:
        outcome: How the turn ended; `canceled` until another end is seen.
        code: Error code, if it failed.
        trace_id: Connects the error that a user sees to logs and spans.
    """

    def __init__(
        self, agent: str, metrics: Metrics, *, trace_id: str = "", clock: Clock = time.monotonic
    ) -> None:
        self._agent = agent
        self._metrics = metrics
        self._clock = clock
        self._began = clock()
        self._spoke = False
        self.outcome = "canceled"
        self.code = ""
        self.trace_id = trace_id
        metrics.record(Observation(catalogue.RUNNING, 1, {"agent": agent}))

    def note(self, event: AgentEvent) -> None:
        """Count one event."""
        for observation in observations(event, self._agent):
            self._metrics.record(observation)
        match event:
            case TextDelta(text=text) if text and not self._spoke:
                self._spoke = True
                self._time(catalogue.FIRST_TOKEN)
            case Completed() | MessageAnswer():
                self.outcome = "completed"
            case InputRequired():
                self.outcome = "input_required"
            case Failed(code=code):
                self.outcome, self.code = "failed", code
            case Rejected(code=code):
                self.outcome, self.code = "rejected", code

    def end(self) -> None:
        """Record the end of the turn."""
        labels = {"agent": self._agent}
        self._metrics.record(Observation(catalogue.TURNS, 1, {**labels, "outcome": self.outcome}))
        self._metrics.record(Observation(catalogue.RUNNING, -1, labels))
        seconds = self._time(catalogue.TURN_SECONDS)
        log.info("turn.ended", outcome=self.outcome, seconds=round(seconds, 3), **self._reason())

    def _reason(self) -> dict[str, str]:
        return {"code": self.code} if self.code else {}

    def _time(self, metric: catalogue.Metric) -> float:
        seconds = self._clock() - self._began
        self._metrics.record(Observation(metric, seconds, {"agent": self._agent}))
        return seconds


def observations(event: AgentEvent, agent: str) -> Iterator[Observation]:
    """The observations of an event of a turn of `agent`. Pure.

    Tool calls and model calls are counted where they are made, since their events lack some of the labels.
    `TurnMeter` counts the end of a turn.
    """
    match event:
        case DelegationFinished(agent=target, state=state, seconds=seconds):
            yield Observation(catalogue.DELEGATIONS, 1, {"agent": target, "state": state.value})
            yield Observation(catalogue.DELEGATION_SECONDS, seconds, {"agent": target})
        case ContextCompacted(strategy=strategy):
            labels = {"agent": agent, "strategy": strategy}
            yield Observation(catalogue.COMPACTIONS, 1, labels)
            yield Observation(
                catalogue.SAVED_TOKENS, max(0, event.tokens_before - event.tokens_after), labels
            )
        case ModelRetried(reason=reason):
            yield Observation(catalogue.RETRIES, 1, {"reason": reason})
        case Failed(code=code):
            yield Observation(catalogue.FAILURES, 1, {"agent": agent, "code": code})
        case UsageReported(by_agent=by_agent):
            for name, usage in by_agent.items():
                if name != agent:
                    yield from tokens(catalogue.DELEGATED_TOKENS, _configured(name), usage)


def tokens(metric: catalogue.Metric, agent: str, usage: Usage) -> Iterator[Observation]:
    """Tokens of one agent, by direction."""
    amounts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    for direction, amount in zip(DIRECTIONS, amounts, strict=True):
        if amount > 0:
            yield Observation(metric, amount, {"agent": agent, "direction": direction})


def _configured(path: str) -> str:
    """The configured name of a sub-agent. The names after it are those of its own sub-agents, which it chose."""
    return path.partition("/")[0]

"""What is measured of one turn: how it ended, how long it took, when its first text came."""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog

from utils.events import AgentEvent, Completed, Failed, InputRequired, MessageAnswer, Rejected, TextDelta
from utils.observability import catalogue
from utils.observability.fold import observations
from utils.observability.metrics import Metrics, Observation

log = structlog.get_logger(__name__)

Clock = Callable[[], float]


class TurnMeter:
    """Counts the events of one turn of one agent.

    Attributes:
        outcome: How the turn ended; `canceled` until it ended in another way.
        code: Code of the failure, where it failed.
        trace_id: What ties the user's view of the turn to logs and spans.
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
        """The turn is over."""
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

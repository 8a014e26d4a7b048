"""The plan of one turn: steps, agents and states. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from utils.events import (
    AgentEvent,
    DelegationFinished,
    DelegationStarted,
    DelegationState,
    PlanStep,
    PlanUpdated,
    StepStatus,
)
from utils.persistence.delegations import COMPLETED, FAILED, WAITING, WORKING, DelegationRecord

_LONGEST_TITLE = 120
_STATUS = {
    DelegationState.COMPLETED: StepStatus.COMPLETED,
    DelegationState.INPUT_REQUIRED: StepStatus.WORKING,
    DelegationState.AUTH_REQUIRED: StepStatus.WORKING,
}
_KEPT = {
    WORKING: StepStatus.WORKING,
    WAITING: StepStatus.WORKING,
    COMPLETED: StepStatus.COMPLETED,
    FAILED: StepStatus.FAILED,
}


def plan_steps(calls: Sequence[tuple[str, str, str]], order: int) -> PlanUpdated:
    """Steps that begin together, of (call id, agent, request)."""
    return PlanUpdated(
        [
            PlanStep(call_id, _title(request), agent, StepStatus.PENDING, order)
            for call_id, agent, request in calls
        ]
    )


class Plan:
    """All steps of a task. Steps with the same order run in parallel.

    Args:
        known: Steps that an earlier turn of the same task began.
    """

    def __init__(self, known: Sequence[PlanStep] = ()) -> None:
        self._steps: dict[str, PlanStep] = {step.id: step for step in known}

    @property
    def done(self) -> list[PlanStep]:
        """The steps that were done."""
        return [step for step in self._steps.values() if step.status is StepStatus.COMPLETED]

    def apply(self, event: AgentEvent) -> PlanUpdated | None:
        """Take in an event; returns the whole plan when it changed."""
        match event:
            case PlanUpdated(steps=steps):
                round_ = 1 + max((step.order for step in self._steps.values()), default=0)
                self._steps |= {step.id: replace(step, order=round_) for step in steps}
            case DelegationStarted(call_id=call_id) if call_id in self._steps:
                self._set(call_id, StepStatus.WORKING)
            case DelegationFinished(call_id=call_id, state=state) if call_id in self._steps:
                self._set(call_id, _STATUS.get(state, StepStatus.FAILED))
            case _:
                return None
        return PlanUpdated(tuple(self._steps.values()))

    def _set(self, call_id: str, status: StepStatus) -> None:
        self._steps[call_id] = replace(self._steps[call_id], status=status)


def known_steps(records: Sequence[DelegationRecord]) -> list[PlanStep]:
    """The steps of delegations that were begun, oldest first."""
    rounds = list(dict.fromkeys(record.step for record in records))
    return [
        PlanStep(e.call_id, _title(e.request), e.agent, _KEPT[e.state], rounds.index(e.step) + 1)
        for e in records
    ]


def _title(request: str) -> str:
    line = " ".join(request.split())
    return line if len(line) <= _LONGEST_TITLE else line[: _LONGEST_TITLE - 1] + "…"

"""The plan of one turn: steps, agents and states. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from utils.events import (
    AgentEvent,
    DelegationFinished,
    DelegationStarted,
    DelegationState,
    PlanStep,
    PlanUpdated,
    StepStatus,
)
from utils.persistence.delegations import COMPLETED, FAILED, LEFT_OPEN, WAITING, WORKING, DelegationRecord

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage

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
    LEFT_OPEN: StepStatus.FAILED,
}


Call = tuple[str, str, str]
"""A delegation that a model asked for: call id, agent, request."""


def delegations_of(answer: AIMessage, agents: Collection[str]) -> list[Call]:
    """The delegations of a model's answer, in their order."""
    return [
        (str(call["id"]), call["name"], str(call["args"].get("request", call["name"])))
        for call in answer.tool_calls
        if call["name"] in agents
    ]


def delegations_left(messages: Sequence[BaseMessage], agents: Collection[str]) -> list[Call]:
    """The delegations of the model's last answer, unless all of them are known to be over."""
    for message in reversed(messages):
        if message.type == "ai":
            return delegations_of(cast("AIMessage", message), agents)
        if message.type != "tool":
            break
    return []


def plan_steps(calls: Sequence[Call], order: int) -> PlanUpdated:
    """Steps that begin together."""
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

    def recall(self, calls: Sequence[Call]) -> None:
        """Add the delegations that an earlier process planned and did not begin, beside those of them that it began."""
        known = [self._steps[call_id].order for call_id, _, _ in calls if call_id in self._steps]
        last = max((step.order for step in self._steps.values()), default=0)
        for step in plan_steps(calls, order=max(known, default=last + 1)).steps:
            self._steps.setdefault(step.id, step)

    def apply(self, event: AgentEvent) -> PlanUpdated | None:
        """Apply an event; returns the complete plan if it changed."""
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

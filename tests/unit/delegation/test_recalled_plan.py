"""The plan of a turn that goes on after its process died."""

from __future__ import annotations

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from multi_agents.platform_engineer.task_plan import Plan, delegations_left
from utils.events import DelegationStarted, PlanStep, PlanUpdated, StepStatus

AGENTS = {"keys", "words"}


def asking(*calls: tuple[str, str]) -> AIMessage:
    made = [{"id": call_id, "name": name, "args": {"request": f"Ask {name}."}} for call_id, name in calls]
    return AIMessage("", tool_calls=made)


def steps_of(plan: Plan, call_id: str) -> list[tuple[str, StepStatus, int]]:
    updated = plan.apply(DelegationStarted(call_id, "keys", "Ask keys."))
    assert isinstance(updated, PlanUpdated)
    return [(step.id, step.status, step.order) for step in updated.steps]


def test_steps_that_had_not_begun_stand_beside_those_that_had() -> None:
    plan = Plan([
        PlanStep("c0", "Earlier.", "words", StepStatus.COMPLETED, 1),
        PlanStep("c1", "Ask keys.", "keys", StepStatus.WORKING, 2),
    ])  # fmt: skip
    messages: list[BaseMessage] = [
        HumanMessage("hi"),
        asking(("c1", "keys"), ("c2", "words"), ("c3", "other")),
    ]
    plan.recall(delegations_left(messages, AGENTS))
    assert steps_of(plan, "c1") == [
        ("c0", StepStatus.COMPLETED, 1),
        ("c1", StepStatus.WORKING, 2),
        ("c2", StepStatus.PENDING, 2),
    ]


def test_steps_of_which_none_had_begun_are_the_next_round() -> None:
    plan = Plan([PlanStep("c0", "Earlier.", "words", StepStatus.COMPLETED, 1)])
    plan.recall(delegations_left([asking(("c1", "keys"), ("c2", "words"))], AGENTS))
    assert steps_of(plan, "c1")[1:] == [("c1", StepStatus.WORKING, 2), ("c2", StepStatus.PENDING, 2)]


def test_an_answer_whose_results_are_there_is_looked_at_and_an_older_one_is_not() -> None:
    done = [asking(("c1", "keys")), ToolMessage("a is 1", tool_call_id="c1")]
    assert [call_id for call_id, _, _ in delegations_left(done, AGENTS)] == ["c1"]
    assert delegations_left([*done, AIMessage("Told.")], AGENTS) == []
    assert delegations_left([*done, HumanMessage("more")], AGENTS) == []
    assert delegations_left([], AGENTS) == []

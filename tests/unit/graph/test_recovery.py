"""Where a turn goes on, from what the last checkpoint holds."""

from __future__ import annotations

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import PregelTask, StateSnapshot

from utils.a2a_common.graph.run.recovery import ResumePoint, recovery_of

ASKED = HumanMessage("Look.", id="m:t")
ANSWER = AIMessage("Seen.")


def state(*tasks: PregelTask) -> StateSnapshot:
    return StateSnapshot({"messages": [ASKED, ANSWER]}, (), {}, None, None, None, tasks, ())


def test_a_graph_without_a_step_to_run_has_finished() -> None:
    found = recovery_of(state(), "m:t", answers=False)
    assert (found.point, found.done) == (ResumePoint.FINISHED, [ANSWER])


def test_a_graph_with_a_step_to_run_goes_on_with_it() -> None:
    found = recovery_of(state(PregelTask("1", "model", ())), "m:t", answers=False)
    assert found.point is ResumePoint.CHECKPOINT


def test_the_same_message_of_another_task_begins_a_turn_of_its_own() -> None:
    assert recovery_of(state(), "m:other", answers=False).point is ResumePoint.MESSAGE

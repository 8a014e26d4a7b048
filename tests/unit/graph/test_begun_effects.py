"""Which tools of a turn may have changed something: asked where the end of the turn cannot be stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt

from utils.a2a_common.graph.run.done_effects import note_done
from utils.a2a_common.graph.tools.boundary import DELEGATION, ToolBoundary
from utils.a2a_common.tasks.begun_effects import BegunEffects, current_effects, note_asked, note_effect
from utils.errors import StorageFull
from utils.messages.repeatable import CHANGES, READ_ONLY, REPEATABLE
from utils.persistence.tool_record import CallKey, MemoryToolRecord

enter = BegunEffects.enter
RUNS: list[str] = []


@dataclass
class Turn:
    recovered: bool = False
    task_id: str = "task"


@tool
async def deploy(version: str) -> str:
    """Deploy a version; the one called "next" only after a yes."""
    if version == "next":
        interrupt("Deploy the next version?")
    RUNS.append(version)
    return f"{version} is deployed"


async def run(record: MemoryToolRecord, turn: Turn, *versions: str) -> Any:
    """Run the calls of one answer of a model, all at once."""
    RUNS.clear()
    BegunEffects().enter()
    boundary = ToolBoundary(record=record)
    graph = StateGraph(MessagesState, context_schema=Turn)
    graph.add_node("tools", ToolNode([deploy], awrap_tool_call=boundary.awrap_tool_call))
    graph.add_edge(START, "tools")
    asked = [
        {"name": "deploy", "args": {"version": each}, "id": each, "type": "tool_call"} for each in versions
    ]
    answer = AIMessage("", id="answer-1", tool_calls=asked)
    config: Any = {"configurable": {"thread_id": "t"}}
    return await graph.compile(InMemorySaver()).ainvoke({"messages": [answer]}, config, context=turn)


async def test_a_call_that_waits_for_its_user_does_not_take_back_another_call_of_the_same_tool() -> None:
    await run(MemoryToolRecord(), Turn(), "1.2", "next")
    assert RUNS == ["1.2"]
    assert current_effects().tools == ["deploy"]


async def test_a_call_that_only_waits_for_its_user_has_changed_nothing() -> None:
    await run(MemoryToolRecord(), Turn(), "next")
    assert current_effects().tools == []


async def test_a_change_that_was_made_before_the_process_died_counts_in_the_turn_that_goes_on() -> None:
    record = MemoryToolRecord()
    await run(record, Turn(), "1.2")
    await run(record, Turn(recovered=True), "1.2")
    assert RUNS == [], "it ran a second time"
    assert current_effects().tools == ["deploy"]


async def test_a_call_that_a_process_died_in_counts_in_the_turn_that_goes_on_though_it_is_not_run_again() -> (
    None
):
    record = MemoryToolRecord()
    await record.begin(CallKey("task", "answer-1", "1.2"))
    await run(record, Turn(recovered=True), "1.2")
    assert RUNS == []
    assert current_effects().tools == ["deploy"]


@pytest.mark.parametrize("note", [note_effect, note_asked])
async def test_a_turn_that_was_told_as_failed_begins_nothing_more(note: Callable[[str, str], None]) -> None:
    effects = BegunEffects()
    effects.enter()
    effects.over = StorageFull()
    with pytest.raises(StorageFull):
        note("deploy", "call")
    assert effects.tools == effects.agents == []


async def test_a_tool_of_a_turn_that_was_told_as_failed_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def enter_failed(effects: BegunEffects) -> None:
        effects.over = StorageFull()
        enter(effects)

    monkeypatch.setattr(BegunEffects, "enter", enter_failed)
    with pytest.raises(StorageFull):
        await run(MemoryToolRecord(), Turn(), "1.2")
    assert RUNS == []


DEPLOYED = ToolMessage("1.2 is deployed", tool_call_id="call", name="deploy")


@pytest.mark.parametrize(
    ("marks", "tools", "agents"),
    [
        ({}, ["deploy"], []),
        ({REPEATABLE: True, CHANGES: True}, ["deploy"], []),
        ({REPEATABLE: True}, [], []),
        ({READ_ONLY: True}, [], []),
        ({DELEGATION: True}, [], ["deploy"]),
        ({DELEGATION: True, READ_ONLY: True}, [], []),
    ],
    ids=[
        "changes",
        "remembers its calls",
        "has no second effect",
        "reads",
        "is an agent",
        "is an agent that reads",
    ],
)
def test_a_result_that_stands_in_the_conversation_counts_in_the_turn_that_goes_on(
    marks: dict[str, bool], tools: list[str], agents: list[str]
) -> None:
    effects = BegunEffects()
    effects.enter()
    note_done([AIMessage("Deploying."), DEPLOYED], [deploy.model_copy(update={"metadata": marks})])
    assert (effects.tools, effects.agents) == (tools, agents)

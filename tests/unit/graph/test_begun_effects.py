"""Which tools of a turn may have changed something: asked where the end of the turn cannot be stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt

from utils.a2a_common.graph.tools.boundary import ToolBoundary
from utils.a2a_common.tasks.begun_effects import BegunEffects, tools_with_effects
from utils.persistence.tool_record import MemoryToolRecord

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
    assert tools_with_effects() == ["deploy"]


async def test_a_call_that_only_waits_for_its_user_has_changed_nothing() -> None:
    await run(MemoryToolRecord(), Turn(), "next")
    assert tools_with_effects() == []


async def test_a_change_that_was_made_before_the_process_died_counts_in_the_turn_that_goes_on() -> None:
    record = MemoryToolRecord()
    await run(record, Turn(), "1.2")
    await run(record, Turn(recovered=True), "1.2")
    assert RUNS == [], "it ran a second time"
    assert tools_with_effects() == ["deploy"]

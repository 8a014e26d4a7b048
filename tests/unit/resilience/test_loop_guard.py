"""A model that asks the same thing again and again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from tests.e2e.agents.peers import Keys, ask, connected
from utils.messages.marks import STOPPED_CALL
from utils.resilience.loop_guard import equal_results
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls


def turn(*results: str, key: str = "a") -> list[BaseMessage]:
    messages: list[BaseMessage] = [HumanMessage("q")]
    for index, result in enumerate(results):
        messages.append(AIMessage("", tool_calls=[call("lookup", f"c{index}", key=key)]))
        messages.append(ToolMessage(result, tool_call_id=f"c{index}"))
    return messages


@pytest.mark.parametrize(
    ("messages", "count"),
    [
        (turn(), 0),
        (turn("x", "x", "x"), 3),
        (turn("x", "x", "y"), 1),
        (turn("y", "x", "x"), 2),
        ([*turn("x", "x"), HumanMessage("again")], 0),
        (turn("x", "x", key="b"), 0),
    ],
)
def test_equal_results_are_counted_back_within_the_turn(messages: Sequence[BaseMessage], count: int) -> None:
    assert equal_results(messages, "lookup", {"key": "a"}) == count


def test_the_order_of_arguments_does_not_matter() -> None:
    asked = AIMessage("", tool_calls=[call("find", "c", x=1, y=2)])
    messages = [HumanMessage("q"), asked, ToolMessage("r", tool_call_id="c")]
    assert equal_results(messages, "find", {"y": 2, "x": 1}) == 1


@pytest.mark.listens
@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
async def test_a_reply_of_thousands_of_calls_is_not_run_and_the_model_is_asked_once_more() -> None:
    many = calls(*(call("lookup", f"c{number}", key=str(number)) for number in range(5_000)))
    model = ScriptedModel(script=[many, "Too much at once."])
    async with running_agent(Keys, model=model) as url, connected(url) as client:
        answer = await ask(client, "what is everything?")
    assert (answer.state, answer.text) == ("completed", "Too much at once.")
    assert not any(isinstance(each, ToolMessage) for each in model.requests[-1].messages)
    assert "too many tool calls" in str(model.requests[-1].messages[0].content)


@pytest.mark.listens
@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
async def test_the_fourth_equal_call_is_not_run_and_the_model_can_go_on() -> None:
    def stubborn(messages: Sequence[BaseMessage]) -> Any:
        results = [each for each in messages if isinstance(each, ToolMessage)]
        if results and STOPPED_CALL.of(results[-1]):
            return f"I have: {results[0].content}"
        return calls(call("lookup", f"c{len(results)}", key="a"))

    model = ScriptedModel(script=stubborn)
    async with running_agent(Keys, model=model) as url, connected(url) as client:
        answer = await ask(client, "what is a?")
    assert (answer.state, answer.text) == ("completed", "I have: the value of a")
    last = [str(each.content) for each in model.requests[-1].messages if isinstance(each, ToolMessage)]
    assert last[:3] == ["the value of a"] * 3
    assert last[3].startswith("lookup was not called")

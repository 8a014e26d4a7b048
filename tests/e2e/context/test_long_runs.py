"""A research agent with seven tools and a window of 128,000 tokens, and what a conversation that fits costs."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool

from tests.e2e.context.test_middleware import Bench, Brain
from utils.context.tools import TOOL_NAMES
from utils.testing.strict_provider import Call, Reply, run_strict_provider

WINDOW = 128_000
NAMES = (
    "search_web",
    "read_page",
    "crawl_site",
    "query_graph",
    "describe_graph",
    "find_node",
    "list_neighbours",
)


def seven_tools() -> list[BaseTool]:
    """Tools for a web search and a knowledge graph, each with a page for an answer."""

    def made(name: str) -> BaseTool:
        async def find(number: int) -> str:
            """Find something."""
            return f"finding {number} of {name} " * 380

        return StructuredTool.from_function(coroutine=find, name=name)

    return [made(name) for name in NAMES]


@pytest.mark.long
async def test_a_research_agent_with_seven_tools_comes_to_its_end_in_a_window_of_128k(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [
        Reply(
            "", [Call(f"c{n}", NAMES[n % 7], {"number": n}), Call(f"d{n}", NAMES[(n + 3) % 7], {"number": n})]
        )
        for n in range(29)
    ]
    with run_strict_provider(Brain([*steps, Reply("The report.")]), window=WINDOW) as double:
        bench = Bench(
            double,
            "openai",
            tmp_path,
            monkeypatch,
            tools=seven_tools(),
            CONTEXT_POLICY="research",
            MAX_MODEL_CALLS_PER_TURN="40",
        )
        text, _ = await bench.say("Research the market.")
        assert text == "The report."
        assert double.rejections == []
        assert {tool.name for tool in double.requests[0].tools} == {*NAMES, *TOOL_NAMES}
        state = await bench.state()
    found = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    assert len(found) == 58
    whole = sum(bench.context.counter.message(message) for message in found)
    assert whole > WINDOW, "without management it would not fit"


async def test_a_conversation_that_fits_costs_one_model_call_for_each_answer(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_strict_provider(Brain([Reply(f"Answer {n}.") for n in range(10)]), window=WINDOW) as double:
        bench = Bench(double, "openai", tmp_path, monkeypatch)
        for number in range(10):
            await bench.say(f"Question {number}?")
        assert len(double.requests) == 10
        state = await bench.state()
    assert len([message for message in state["messages"] if isinstance(message, AIMessage)]) == 10

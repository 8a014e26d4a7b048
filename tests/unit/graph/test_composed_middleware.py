"""Several middleware composed to one behave as they do one by one."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, AgentState, ModelResponse
from langchain.agents.middleware.types import ExtendedModelResponse
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.types import Command

from utils.a2a_common.graph.middleware_stack import ComposedMiddleware, composed
from utils.testing.scripted_model import ScriptedModel, call, calls


class Marked(AgentState[Any]):
    mark: str


class Noting(AgentMiddleware[Any, Any]):
    def __init__(self, name: str, seen: list[str]) -> None:
        super().__init__()
        self._name, self._seen = name, seen

    @property
    def name(self) -> str:
        return self._name

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        self._seen.append(f"model in {self._name}")
        answered = await handler(request)
        self._seen.append(f"model out {self._name}")
        return answered

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        self._seen.append(f"tool in {self._name}")
        return await handler(request)


class Marking(AgentMiddleware[Any, Any]):
    state_schema = Marked

    def __init__(self) -> None:
        super().__init__()
        self.attempts = 0

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        self.attempts += 1
        return ExtendedModelResponse(
            await handler(request), Command(update={"mark": f"attempt {self.attempts}"})
        )


class Twice(AgentMiddleware[Any, Any]):
    """Calls the model again, and answers with a bare message."""

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        await handler(request)
        response: ModelResponse[Any] = await handler(request)
        return response.result[0]


@tool
def look() -> str:
    """Looks."""
    return "seen"


async def run(middleware: Any, *replies: Any) -> Any:
    agent = create_agent(ScriptedModel(script=list(replies)), [look], middleware=middleware)
    return await agent.ainvoke({"messages": [HumanMessage("hello")]})


async def test_composed_middleware_wraps_calls_in_the_same_order():
    ways = []
    for compose in (list, lambda parts: [ComposedMiddleware(parts)]):
        seen: list[str] = []
        ended = await run(compose([Noting("a", seen), Noting("b", seen)]), calls(call("look", "c1")), "done")
        assert ended["messages"][-1].text == "done"
        ways.append(seen)
    assert ways[0] == ways[1]
    assert ways[0][:2] == ["model in a", "model in b"]


async def test_the_command_of_the_last_attempt_goes_with_the_answer():
    ended = await run([ComposedMiddleware([Twice(), Marking(), Noting("inner", [])])], "first", "second")
    assert (ended["mark"], ended["messages"][-1].text) == ("attempt 2", "second")


async def test_a_trace_keeps_a_span_for_each_middleware(monkeypatch):
    parts = [Noting("a", []), Noting("b", [])]
    monkeypatch.setattr("langsmith.utils.tracing_is_enabled", lambda: True)
    assert composed(parts) == parts
    monkeypatch.setattr("langsmith.utils.tracing_is_enabled", lambda: False)
    assert [each.name for each in composed(parts)] == ["a b"]


async def test_a_bare_message_is_an_answer():
    class Answering(AgentMiddleware[Any, Any]):
        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return AIMessage("fine")

    ended = await run([ComposedMiddleware([Noting("outer", []), Answering()])])
    assert ended["messages"][-1].text == "fine"

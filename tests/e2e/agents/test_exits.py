"""Code of an agent that ends the process, or raises what ends one, fails its own turn: the agent answers the next message."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langgraph.graph import END, START, StateGraph

from tests.e2e.agents.peers import ask, connected, message
from tests.e2e.cli.command import finish, start_program
from tests.ports import free_port
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.client.transport.connection import http_client
from utils.a2a_common.graph.own.parts import GraphParts
from utils.a2a_common.graph.tools.agent_tool import agent_tool
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.a2a_common.protocol.request import AgentRequest
from utils.context.state import ContextState
from utils.events import AgentEvent, Completed, TextDelta
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


class Stop(BaseException):
    """What a library raises to end more than a call."""


def _leave(text: str) -> None:
    """Leave in the way that the message names, if it names one."""
    match text:
        case "exit":
            sys.exit(3)
        case "interrupt":
            raise KeyboardInterrupt
        case "stop":
            raise Stop


def last(state: Any) -> str:
    return str(state["messages"][-1].text)


class Graphed(BaseLangGraphAgent):
    """Leaves in a node of its graph."""

    name = "leaver"
    description = "Leaves."

    async def graph(self, parts: GraphParts) -> StateGraph[Any, Any, Any, Any]:
        async def before(state: ContextState) -> dict[str, Any]:
            await asyncio.sleep(0)
            _leave(last(state))
            return {}

        graph = StateGraph(ContextState, context_schema=AgentRequest)
        graph.add_node("before", before)
        graph.add_node("agent", parts.agent)
        graph.add_edge(START, "before")
        graph.add_edge("before", "agent")
        return graph


class InThread(Graphed):
    """Leaves in a node without `async`, and in the condition behind one."""

    async def graph(self, parts: GraphParts) -> StateGraph[Any, Any, Any, Any]:
        def before(state: ContextState) -> dict[str, Any]:
            if last(state) != "stop":
                _leave(last(state))
            return {}

        def where(state: ContextState) -> str:
            _leave(last(state))
            return "agent"

        graph = StateGraph(ContextState, context_schema=AgentRequest)
        graph.add_node("before", before)
        graph.add_node("agent", parts.agent)
        graph.add_edge(START, "before")
        graph.add_conditional_edges("before", where, ["agent", END])
        return graph


class Leaving(AgentMiddleware[Any, Any]):
    """Leaves around a model call."""

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        _leave(request.messages[-1].text)
        return await handler(request)


class LeavingFirst(AgentMiddleware[Any, Any]):
    """Leaves in a node of its own before the model."""

    async def abefore_model(self, state: Any, runtime: Any) -> None:
        _leave(last(state))


class Wrapped(BaseLangGraphAgent):
    """Leaves in middleware."""

    name = "leaver"
    description = "Leaves."

    def model_middleware(self) -> Sequence[AgentMiddleware[Any, Any]]:
        return [Leaving()]


class Hooked(Wrapped):
    """Leaves in another hook of middleware."""

    def model_middleware(self) -> Sequence[AgentMiddleware[Any, Any]]:
        return [LeavingFirst()]


class Streaming(BaseLangGraphAgent):
    """Leaves without any graph."""

    name = "leaver"
    description = "Leaves."

    async def build(self) -> None: ...

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        yield TextDelta("Well, ")
        _leave(request.text)
        yield Completed()


@pytest.mark.parametrize("raised", ["exit", "interrupt", "stop"])
@pytest.mark.parametrize("agent", [Graphed, InThread, Wrapped, Hooked, Streaming])
async def test_code_of_an_agent_that_leaves_the_process_fails_its_turn_alone(
    agent: type[BaseLangGraphAgent], raised: str
) -> None:
    model = ScriptedModel(script=["Here I am."])
    async with running_agent(agent, model=model) as url, connected(url) as client:
        failed = await ask(client, raised)
        answered = await ask(client, "Are you there?")
    assert (failed.state, answered.state) == ("failed", "completed")
    assert failed.metadata(ERROR_EXTENSION)[0]["code"] == "internal_error"


class Tooled(BaseLangGraphAgent):
    """Leaves in a tool."""

    name = "leaver"
    description = "Leaves."

    @agent_tool(read_only=True)
    async def leave(self) -> str:
        """Leave."""
        raise KeyboardInterrupt


async def test_a_tool_that_raises_an_interrupt_ends_its_call_alone() -> None:
    model = ScriptedModel(script=[calls(call("leave")), "It left.", "Here I am."])
    async with running_agent(Tooled, model=model) as url, connected(url) as client:
        failed = await ask(client, "Leave.")
        answered = await ask(client, "Are you there?")
    assert (failed.state, answered.state) == ("failed", "completed")


@pytest.mark.processes
async def test_control_c_ends_the_process_while_a_tool_runs(tmp_path: Path) -> None:
    port = free_port()
    process = await start_program(
        ("-m", "tests.e2e.agents.waiter"), "--port", str(port), home=tmp_path, SHUTDOWN_GRACE_SECONDS="0"
    )
    url = f"http://127.0.0.1:{port}"
    try:
        async with asyncio.timeout(60), http_client(url) as http:
            while not await _is_ready(http, url):
                await asyncio.sleep(0.02)
            async with connected(url) as client:
                async for event in client.send_message(message("Wait for the train")):
                    if "ToolStarted" in str(event) or "tool_started" in str(event):
                        process.send_signal(signal.SIGINT)
                        break
        done = await finish(process)
    finally:
        if process.returncode is None:
            process.kill()
    assert done.code in (0, 130)
    assert "Traceback" not in done.err


@pytest.mark.processes
async def test_a_task_in_the_background_that_leaves_ends_alone_and_the_log_tells_it(tmp_path: Path) -> None:
    port = free_port()
    program = ("-m", "tests.e2e.agents.runaway")
    process = await start_program(program, "--port", str(port), home=tmp_path)
    url = f"http://127.0.0.1:{port}"
    try:
        async with asyncio.timeout(60), http_client(url) as http:
            while not await _is_ready(http, url):
                await asyncio.sleep(0.02)
            async with connected(url) as client:
                said = [await ask(client, words) for words in ("Leave.", "Are you there?")]
        process.send_signal(signal.SIGTERM)
        done = await finish(process)
    finally:
        if process.returncode is None:
            process.kill()
    assert [each.state for each in said] == ["completed", "completed"]
    assert done.code == 0
    assert "task.exit_contained" in done.err


async def _is_ready(http: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await http.get(f"{url}/readyz")).is_success
    except httpx.TransportError:
        return False

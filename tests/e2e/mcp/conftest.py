"""Agents with MCP servers, in the test's own event loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver

from tests.preloaded import process as preloaded
from tests.provider import aws_credentials, double, running_double
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import AgentEvent
from utils.mcp.servers import McpServers
from utils.testing.scripted_model import ScriptedModel

__all__ = ["aws_credentials", "double", "running_double"]

ROOT = Path(__file__).resolve().parents[3]
PYTHON, *ATTACHED = preloaded.attaching()
STDIO: dict[str, Any] = {
    "command": PYTHON,
    "args": [*ATTACHED, "-m", "tests.e2e.mcp.toolbox"],
    "cwd": str(ROOT),
}


@tool
def own_tool() -> str:
    """The agent's own."""
    return "own"


class Plain(BaseLangGraphAgent):
    """An agent that knows nothing of MCP."""

    name = "plain"
    description = "Answers."

    def system_prompt(self) -> str:
        return "Answer."

    async def tools(self) -> Sequence[BaseTool]:
        return [own_tool]


class Talk:
    """One agent and its scripted model."""

    def __init__(self, agent: BaseLangGraphAgent, model: ScriptedModel) -> None:
        self.agent, self.model, self._turns = agent, model, 0
        self._rebuilt = asyncio.Event()
        agent.on_rebuilt = self._rebuilt.set

    async def ask(self, text: str = "Do it") -> list[AgentEvent]:
        self._turns += 1
        return await self._turn(text, f"m{self._turns}")

    async def answer(self, text: str, *data: Mapping[str, Any]) -> list[AgentEvent]:
        """The user's reply to the question of the last turn."""
        return await self._turn(text, f"m{self._turns}-reply", resumes=True, data=data)

    async def _turn(self, text: str, message: str, **more: Any) -> list[AgentEvent]:
        task = f"t{self._turns}"
        request = AgentRequest(
            text=text, task_id=task, context_id="c", message_id=message, thread_id="th", **more
        )
        return [event async for event in self.agent.stream(request)]

    def tool_names(self) -> set[str]:
        """What the model was offered last, but for what every agent has."""
        offered = {each["function"]["name"] for each in self.model.requests[-1].tools}
        return offered - {"read_tool_output", "recall"}

    async def until_offered(self, name: str) -> None:
        """Wait until the agent's graph has a tool of this name."""
        async with asyncio.timeout(60):
            while (built := self.agent._built) is None or name not in {tool.name for tool in built.tools}:
                self._rebuilt.clear()
                await self._rebuilt.wait()

    def last_result(self) -> Any:
        return self.model.requests[-1].messages[-1]


@pytest.fixture
def rebuilt(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set when an agent has been built again with the tools of a server that joined it, its card included."""
    done, change = asyncio.Event(), McpServers._changed

    async def changed(servers: McpServers) -> None:
        await change(servers)
        done.set()

    monkeypatch.setattr(McpServers, "_changed", changed)
    return done


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    """Starts an agent with MCP servers and a script."""
    agents: list[BaseLangGraphAgent] = []

    async def make(servers: dict[str, Any], *script: object, **environ: str) -> Talk:
        model = ScriptedModel(script=list(script))
        settings = {
            "MCP_SERVERS": json.dumps(servers),
            "MCP_RETRY_SECONDS": "0.05",
            "MCP_START_SECONDS": "20",
        }
        runtime = AgentRuntime(
            home=tmp_path,
            settings=AgentSettings.load(settings | environ),
            model=model,
            checkpointer=InMemorySaver(),
        )
        agent = Plain(runtime)
        agents.append(agent)
        await agent.start()
        await agent.build()
        return Talk(agent, model)

    yield make
    for agent in agents:
        await agent.close()

"""Two conversations at once through one server, in two hundred interleavings: nothing crosses over."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain.tools import ToolRuntime
from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver

from multi_agents.platform_engineer.task_plan_middleware import PlanMiddleware
from tests.e2e.wire.agents import card
from tests.e2e.wire.test_scope import AUTH, as_user
from tests.e2e.wire.wiring import message
from tests.support.task_logs import memory_log
from utils.a2a_common import BaseLangGraphAgent
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.protocol.extensions import ACTIVITY_PLAN, USAGE_EXTENSION
from utils.a2a_common.protocol.request import AgentRequest
from utils.a2a_common.server.agent_service import AgentService
from utils.a2a_common.server.app import build_app
from utils.events import Usage
from utils.settings import ServerSettings
from utils.testing.live_server import running
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

INTERLEAVINGS = 200
LONGEST_PAUSE = 12
"""Turns of the event loop; a call's way out of the tool and into the next model request takes about as many."""


class Whoami(BaseLangGraphAgent):
    """Tells who asks. All four calls of two conversations meet in the tool; a seed decides how they part."""

    name = "whoami"
    description = "Tells who asks."

    def __init__(self, runtime: AgentRuntime) -> None:
        super().__init__(runtime)
        self.dice = random.Random(0)
        self.order: list[str] = []
        self.meeting = asyncio.Barrier(4)

    def system_prompt(self) -> str:
        return "Use the tool."

    def model_middleware(self) -> Sequence[Any]:
        return (PlanMiddleware(lambda: {"who"}),)

    async def tools(self) -> Sequence[BaseTool]:
        @tool
        async def who(request: str, runtime: ToolRuntime[AgentRequest]) -> str:
            """Tells who asks."""
            asker = runtime.context.caller.name
            self.order.append(f"{asker} in")
            async with asyncio.timeout(60):
                await self.meeting.wait()
            for _ in range(self.dice.randrange(LONGEST_PAUSE)):
                await asyncio.sleep(0)
            self.order.append(f"{asker} out")
            return f"{asker} with {runtime.context.metadata['token']} asks {request}"

        return [who]


def reply(messages: Sequence[BaseMessage]) -> ScriptedReply:
    """Two calls that name the asker's words, then an answer of all that was seen; tokens tell the asker apart."""
    asked = str(messages[-1].content) if messages[-1].type == "human" else ""
    tokens = 1 if any("zelda" in str(each.content) for each in messages) else 45
    used = Usage(tokens, tokens)
    if asked:
        return ScriptedReply(
            tool_calls=[call("who", "c1", request=asked), call("who", "c2", request=f"{asked} twice")],
            usage=used,
        )
    return ScriptedReply(text=" | ".join(str(each.content) for each in messages[1:]), usage=used)


@asynccontextmanager
async def served(home: Path, model: ScriptedModel) -> AsyncIterator[tuple[str, Whoami]]:
    runtime = AgentRuntime(
        home=home, settings=AgentSettings.load({}), model=model, checkpointer=InMemorySaver()
    )
    agent = Whoami(runtime)
    await agent.build()
    log = memory_log()
    service = AgentService(card=card(), executor=agent.executor(), log=log, middleware=AUTH)
    async with running(build_app(service, ServerSettings.load({}))) as url:
        yield url, agent


async def turn(http: httpx.AsyncClient, url: str, name: str, seed: int) -> list[str]:
    """The lines of one stream. Every other pair of users gives its conversations the same id."""
    said = message(
        f"{name}-{seed}",
        messageId=f"m-{name}-{seed}",
        contextId=f"x-{seed}" if seed % 2 else f"x-{name}-{seed}",
        metadata={"token": f"token-of-{name}-{seed}"},
    )
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": said}}
    async with http.stream("POST", f"{url}/", json=body, headers=as_user(name)) as answer:
        return [line[5:] async for line in answer.aiter_lines() if line.startswith("data:")]


def check(lines: list[str], name: str, other: str, seed: int) -> None:
    asked, token = f"{name}-{seed}", f"token-of-{name}-{seed}"
    events = [json.loads(line)["result"] for line in lines]
    artifacts = [each["artifactUpdate"] for each in events if "artifactUpdate" in each]
    parts = [(each["artifact"]["name"], part) for each in artifacts for part in each["artifact"]["parts"]]
    text = "".join(part["text"] for kind, part in parts if kind == "response")
    told = [each["statusUpdate"].get("metadata", {}) for each in events if "statusUpdate" in each]
    plan = next(each[ACTIVITY_PLAN]["steps"] for each in told if ACTIVITY_PLAN in each)
    end = events[-1]["statusUpdate"]
    assert text == f"{asked} |  | {name} with {token} asks {asked} | {name} with {token} asks {asked} twice"
    assert [step["title"] for step in plan] == [asked, f"{asked} twice"]
    tokens = 2 if name == "zelda" else 90
    used = {"input_tokens": tokens, "output_tokens": tokens, "cached_tokens": 0}
    assert end["metadata"][USAGE_EXTENSION] == {"whoami": used}
    assert end["status"]["state"] == "TASK_STATE_COMPLETED"
    assert not any(other in line for line in lines)


@pytest.mark.long
async def test_two_contexts_at_once_in_two_hundred_interleavings(tmp_path: Path) -> None:
    model, orders = ScriptedModel(script=reply), list[tuple[str, ...]]()
    async with (
        served(tmp_path, model) as (url, agent),
        httpx.AsyncClient(timeout=30, trust_env=False) as http,
    ):
        for seed in range(INTERLEAVINGS):
            agent.dice.seed(seed)
            zelda, boris = await asyncio.gather(
                turn(http, url, "zelda", seed), turn(http, url, "boris", seed)
            )
            check(zelda, "zelda", "boris", seed)
            check(boris, "boris", "zelda", seed)
            orders.append(tuple(agent.order))
            agent.order.clear()
    shown = [str(request.messages) for request in model.requests]
    assert len(shown) == 4 * INTERLEAVINGS
    assert not any("zelda" in each and "boris" in each for each in shown)
    assert all(order[:4].count("zelda in") == order[:4].count("boris in") == 2 for order in orders)
    assert len({order[4:] for order in orders}) == 6, "all orders in which two and two can leave"

"""Two conversations at once in one agent, in two hundred interleavings: nothing crosses over."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain.tools import ToolRuntime
from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver

from multi_agents.platform_engineer.plan_middleware import PlanMiddleware
from utils.a2a_common import BaseLangGraphAgent
from utils.a2a_common.request import AgentRequest, Caller
from utils.a2a_common.runtime import AgentRuntime
from utils.events import AgentEvent, PlanUpdated, TextDelta, Usage, UsageReported
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call

INTERLEAVINGS = 200


class Whoami(BaseLangGraphAgent):
    """Tells who asks, after a number of pauses that a seed decides."""

    name = "whoami"
    description = "Tells who asks."
    dice = random.Random(0)

    def system_prompt(self) -> str:
        return "Use the tool."

    def middleware(self) -> Sequence[Any]:
        return (PlanMiddleware(lambda: {"who"}),)

    async def tools(self) -> Sequence[BaseTool]:
        @tool
        async def who(request: str, runtime: ToolRuntime[AgentRequest]) -> str:
            """Tells who asks."""
            for _ in range(self.dice.randrange(6)):
                await asyncio.sleep(0)
            return f"{runtime.context.caller.name} asks {request}"

        return [who]


def reply(messages: Sequence[BaseMessage]) -> ScriptedReply:
    """Two calls that name the asker's words, then an answer of all that was seen; tokens tell the asker apart."""
    asked = str(messages[-1].content) if messages[-1].type == "human" else ""
    tokens = 1 if any("ada" in str(each.content) for each in messages) else 1_000
    used = Usage(tokens, tokens)
    if asked:
        return ScriptedReply(
            tool_calls=[call("who", "c1", request=asked), call("who", "c2", request=f"{asked} twice")],
            usage=used,
        )
    return ScriptedReply(text=" | ".join(str(each.content) for each in messages[1:]), usage=used)


async def turn(agent: Whoami, name: str, seed: int) -> list[AgentEvent]:
    request = AgentRequest(
        text=f"{name}-{seed}",
        task_id=f"t-{name}-{seed}",
        context_id=f"x-{name}-{seed}",
        message_id=f"m-{name}-{seed}",
        thread_id=f"thread-{name}-{seed}",
        caller=Caller(name),
    )
    return [event async for event in agent.stream(request)]


def check(events: list[AgentEvent], name: str, other: str, seed: int) -> None:
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    plans = [event for event in events if isinstance(event, PlanUpdated)]
    [usage] = [event for event in events if isinstance(event, UsageReported)]
    asked = f"{name}-{seed}"
    assert text == f"{asked} |  | {name} asks {asked} | {name} asks {asked} twice"
    assert [step.title for step in plans[0].steps] == [asked, f"{asked} twice"]
    assert usage.by_agent == {"whoami": Usage(2, 2) if name == "ada" else Usage(2_000, 2_000)}
    assert other not in str(events)


async def test_two_contexts_at_once_in_two_hundred_interleavings(tmp_path: Path) -> None:
    runtime = AgentRuntime(
        home=tmp_path, environ={}, model=ScriptedModel(script=reply), checkpointer=InMemorySaver()
    )
    agent = Whoami(runtime)
    for seed in range(INTERLEAVINGS):
        agent.dice.seed(seed)
        ada, bob = await asyncio.gather(turn(agent, "ada", seed), turn(agent, "bob", seed))
        check(ada, "ada", "bob", seed)
        check(bob, "bob", "ada", seed)

"""What delegation costs, with models that answer at once: `python -m benchmarks.delegation`.

The same answer is asked of an agent directly, through a supervisor, and through two supervisors; all
in one process over loopback HTTP. Printed are ratios to the direct call, the cost of one hop, the
cost of one streamed event on its way through a hop, and how long a cancel takes over three levels.
"""

from __future__ import annotations

import asyncio
import logging
import statistics
import time
import warnings
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import structlog

from multi_agents.platform_engineer.agent import PlatformEngineer
from utils.a2a_common import BaseLangGraphAgent, Skill
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

ROUNDS = 15
TOOL_CALLS = 20
GOAL_SECONDS = 1.0
"""How long a cancel over three levels may take."""


class Leaf(BaseLangGraphAgent):
    """The agent at the end of the chain."""

    name = "leaf"
    description = "Answers at once."
    skills = (Skill("answer", "Answer", "Answers at once.", tags=("benchmark",)),)

    def system_prompt(self) -> str:
        """A short prompt."""
        return "Answer."

    async def tools(self) -> Sequence[BaseTool]:
        """One tool that does nothing, each call of which is two streamed events."""
        from langchain_core.tools import tool

        @tool
        async def step(number: int) -> str:
            """Does nothing."""
            return f"step {number}"

        return [step]


class Middle(PlatformEngineer):
    """A supervisor under a supervisor."""

    name = "middle"


def leaf_brain(messages: Sequence[Any]) -> Any:
    """An answer at once, or after as many tool calls as asked for."""
    asked = next(str(m.content) for m in reversed(messages) if m.type == "human")
    if messages[-1].type == "tool" or asked != "steps":
        return "The answer."
    return calls(*(call("step", f"s{n}", number=n) for n in range(TOOL_CALLS)))


def relay_brain(agent: str) -> Any:
    """A supervisor that hands the user's words on and repeats the result."""

    def brain(messages: Sequence[Any]) -> Any:
        if messages[-1].type == "tool":
            return str(messages[-1].content)
        return calls(call(agent, f"c{uuid4().hex}", request=str(messages[-1].content)))

    return brain


@asynccontextmanager
async def chain(leaf: Any) -> AsyncIterator[tuple[str, str, str]]:
    """URLs of a leaf, a supervisor over it, and a supervisor over that."""

    def over(name: str, url: str, agent: type[PlatformEngineer]) -> Any:
        model = ScriptedModel(script=relay_brain(name))
        return running_agent(agent, environ={"SUB_AGENTS": f"{name}={url}"}, model=model)

    async with (
        running_agent(Leaf, model=ScriptedModel(script=leaf)) as leaf_url,
        over("leaf", leaf_url, Middle) as middle_url,
        over("middle", middle_url, PlatformEngineer) as top_url,
    ):
        for url in (middle_url, top_url):
            await ready(url)
        yield leaf_url, middle_url, top_url


async def ready(url: str) -> None:
    """Wait until an agent takes work."""
    import httpx

    async with httpx.AsyncClient(trust_env=False) as http, asyncio.timeout(30):
        while (await http.get(f"{url}/readyz")).status_code != httpx.codes.OK:  # noqa: ASYNC110 - asked over HTTP
            await asyncio.sleep(0.05)


async def ask(url: str, text: str) -> float:
    """Seconds from sending a message to the end of its stream."""
    from a2a.client import ClientConfig, create_client

    from utils.a2a_common.client.transport.connection import http_client

    async with http_client(url) as http:
        client = await create_client(url, ClientConfig(httpx_client=http))
        began = time.perf_counter()
        async for _ in client.send_message(_message(text)):
            pass
        return time.perf_counter() - began


def _message(text: str) -> Any:
    from a2a.types.a2a_pb2 import Message, Part, Role, SendMessageRequest

    parts = [Part(text=text)]
    return SendMessageRequest(message=Message(message_id=str(uuid4()), role=Role.ROLE_USER, parts=parts))


async def median(url: str, text: str) -> float:
    """The middle of several runs, after one that warms up."""
    await ask(url, text)
    return statistics.median([await ask(url, text) for _ in range(ROUNDS)])


async def cost() -> None:
    """Print the cost of hops and of events."""
    async with chain(leaf_brain) as (leaf, middle, top):
        direct, one, two = [await median(url, "hello") for url in (leaf, middle, top)]
        busy_direct, busy_one = [await median(url, "steps") for url in (leaf, middle)]
    print(f"delegation: direct 1.00, one hop {one / direct:.2f}, two hops {two / direct:.2f}")
    print(f"  per hop {(two - direct) / 2 * 1000:.1f} ms (direct call {direct * 1000:.1f} ms)")
    extra = (busy_one - one) - (busy_direct - direct)
    events = 2 * TOOL_CALLS
    print(f"  per streamed event through one hop {max(0.0, extra) / events * 1000:.2f} ms")


async def cancel() -> None:
    """Print how long a cancel takes over three levels."""
    from a2a.client import ClientConfig, create_client
    from a2a.types.a2a_pb2 import CancelTaskRequest

    from utils.a2a_common.client.transport.connection import http_client

    took = []
    started, never = asyncio.Event(), asyncio.Event()
    waiting = ScriptedReply(text="late", started=started, gate=never)
    async with chain(lambda _messages: waiting) as (_, _, top), http_client(top) as http:
        client = await create_client(top, ClientConfig(httpx_client=http))
        for _ in range(5):
            started.clear()
            stream = client.send_message(_message("wait"))
            task_id = (await anext(stream)).task.id
            reading = asyncio.create_task(_drain(stream))
            await started.wait()
            began = time.perf_counter()
            await client.cancel_task(CancelTaskRequest(id=task_id))
            took.append(time.perf_counter() - began)
            await reading
    middle = statistics.median(took)
    goal = "within" if middle < GOAL_SECONDS else "OVER"
    print(f"cancel over three levels: {middle * 1000:.0f} ms ({goal} {GOAL_SECONDS:g} s)")


async def _drain(stream: AsyncIterator[Any]) -> None:
    async for _ in stream:
        pass


def main() -> None:
    """Run both."""
    warnings.simplefilter("ignore", DeprecationWarning)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    asyncio.run(cost())
    asyncio.run(cancel())


if __name__ == "__main__":
    main()

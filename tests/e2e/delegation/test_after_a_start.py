"""What the supervisor knows of its agents right after a start."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Keys
from tests.e2e.delegation.teams import model
from tests.ports import free_port
from utils.a2a_common import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import AgentEvent
from utils.testing.live_agent import running_agent
from utils.testing.live_server import loopback_socket
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


class Started:
    """A supervisor that is asked as soon as its start returns."""

    def __init__(self, home: Path, url: str, restart: str = "0", wait: str = "60", **others: str) -> None:
        self.model = ScriptedModel(script=answer)
        agents = {"keys": url, **others}
        told = {
            "SUB_AGENTS": ",".join(f"{name}={address}" for name, address in agents.items()),
            "SUB_AGENT_RESTART_SECONDS": restart,
            "SUB_AGENT_WAIT_SECONDS": wait,
        }
        settings = AgentSettings.load(told)
        runtime = AgentRuntime(home=home, settings=settings, model=self.model, checkpointer=InMemorySaver())
        self.agent = PlatformEngineer(runtime)

    async def ask(self, told: Callable[[AgentEvent], None] = lambda _event: None) -> str:
        await self.agent.start()
        await self.agent.build()
        try:
            request = AgentRequest("What is a?", "task", "context", "message", "thread")
            events = []
            async for event in self.agent.stream(request):
                events.append(event)
                told(event)
        finally:
            await self.agent.close()
        return "".join(getattr(event, "text", "") or getattr(event, "message", "") for event in events)

    @property
    def offered(self) -> list[str]:
        names = [tool["function"]["name"] for tool in self.model.requests[0].tools]
        return [name for name in names if name in ("keys", "late")]


def answer(messages: Any) -> Any:
    """Delegates, then says what came of it."""
    if messages[-1].type == "tool":
        return f"Told: {messages[-1].text}"
    return calls(call("keys", request="What is a?"))


async def test_a_request_right_after_the_first_start_waits_for_the_look_at_the_agents(tmp_path: Path) -> None:
    async with running_agent(Keys, model=model(["a is 1"])) as url:
        assert await Started(tmp_path, url).ask() == "Told: a is 1"


async def test_a_request_waits_for_agents_that_start_with_the_supervisor_and_says_so(tmp_path: Path) -> None:
    listener = loopback_socket()
    port = listener.getsockname()[1]
    listener.close()
    supervisor = Started(tmp_path, f"http://127.0.0.1:{port}")
    async with AsyncExitStack() as stack:
        waits = asyncio.Event()
        asking = asyncio.create_task(supervisor.ask(lambda event: waits.set()))
        async with asyncio.timeout(60):
            await waits.wait()
            late = loopback_socket(port)
            await stack.enter_async_context(running_agent(Keys, model=model(["a is 1"]), listener=late))
            assert await asking == "Waiting for keys to start.Told: a is 1"


async def test_a_request_waits_for_an_agent_that_starts_later_than_another(tmp_path: Path) -> None:
    port = free_port()
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(running_agent(Keys, model=model(["a is 1"])))
        supervisor = Started(tmp_path, url, late=f"http://127.0.0.1:{port}")
        waits = asyncio.Event()
        asking = asyncio.create_task(supervisor.ask(lambda event: waits.set()))
        async with asyncio.timeout(60):
            await waits.wait()
            late = loopback_socket(port)
            await stack.enter_async_context(running_agent(Keys, model=model([]), listener=late))
            assert await asking == "Waiting for late to start.Told: a is 1"
        assert supervisor.offered == ["keys", "late"]


async def test_a_request_waits_no_longer_than_agents_may_take_to_start(tmp_path: Path) -> None:
    nobody = f"http://127.0.0.1:{free_port()}"
    supervisor = Started(tmp_path, nobody, wait="0")
    supervisor.model.script = ["No agents."]
    assert await supervisor.ask() == "No agents."


async def test_an_agent_that_is_down_after_a_restart_is_still_offered_and_said_to_be_down(
    tmp_path: Path,
) -> None:
    async with running_agent(Keys, model=model(["a is 1"])) as url:
        await Started(tmp_path, url).ask()
    again = Started(tmp_path, url)
    assert "The keys agent cannot be reached right now." in await again.ask()
    assert again.offered == ["keys"]


@pytest.mark.parametrize("card", ["[]", "{", '{"name": 7}', '{"name": "' + "x" * 300_000 + '"}', "[" * 2_000])
async def test_a_stored_card_that_would_not_be_taken_fresh_is_not_taken(tmp_path: Path, card: str) -> None:
    async with running_agent(Keys, model=model(["a is 1"])) as url:
        await Started(tmp_path, url).ask()
    with closing(sqlite3.connect(tmp_path / "cards.sqlite")) as connection, connection:
        connection.execute("UPDATE agent_cards SET card = ?", (card,))
    agent = Started(tmp_path, url).agent
    await agent.start()
    try:
        assert await agent.tools() == []
    finally:
        await agent.close()


async def test_the_stored_card_of_another_address_is_not_taken(tmp_path: Path) -> None:
    async with running_agent(Keys, model=model(["a is 1"])) as url:
        await Started(tmp_path, url).ask()
    agent = Started(tmp_path, f"http://127.0.0.1:{free_port()}").agent
    await agent.start()
    try:
        assert await agent.tools() == []
    finally:
        await agent.close()

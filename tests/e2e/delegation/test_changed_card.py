"""An agent's card changes while it works for somebody: nobody's delegation suffers from that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from a2a.types.a2a_pb2 import CancelTaskRequest
from langchain_core.messages import BaseMessage

from tests.e2e.agents.peers import ask, connected, message
from tests.e2e.delegation.hostile import TASK, Body, Hostile, hostile
from tests.e2e.delegation.teams import model, supervising
from tests.e2e.delegation.test_too_much import artifact, status
from utils.a2a_common.client.delegation import remote_agents
from utils.a2a_common.client.transport.connection import http_client
from utils.a2a_common.client.transport.limits import PeerLimits
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

PACE = {"SUB_AGENT_REFRESH_SECONDS": "0.05"}


class Working:
    """An agent whose first task waits for a gate, and whose card has a version."""

    def __init__(self) -> None:
        self.gate, self.begun = asyncio.Event(), asyncio.Event()
        self._first = True

    async def body(self, agent: Hostile) -> Body:
        first, self._first = self._first, False
        yield agent.event({"task": TASK})
        if first:
            self.begun.set()
            await self.gate.wait()
        yield agent.event(artifact("first" if first else "second", append=False))
        yield agent.event(status("COMPLETED"))


@asynccontextmanager
async def changing(working: Working, opened: list[httpx.AsyncClient]) -> AsyncIterator[tuple[Hostile, str]]:
    """A supervisor over such an agent."""
    asks = calls(call("flood", request="Dig"))
    supervisor = model(
        lambda messages: asks if not _has_result(messages) else f"It said {messages[-1].content}"
    )
    async with (
        asyncio.timeout(60),
        hostile(working.body) as agent,
        supervising({"flood": agent.url}, supervisor, PACE) as url,
    ):
        opened.clear()
        yield agent, url


def _has_result(messages: Sequence[BaseMessage]) -> bool:
    return messages[-1].type == "tool"


async def change(agent: Hostile) -> None:
    """Give the agent another card, and wait until the supervisor has read it."""
    agent.version += 1
    seen = agent.cards
    while agent.cards < seen + 2:  # the second look begins after the first was taken in
        await asyncio.sleep(0.01)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[httpx.AsyncClient]:
    """The HTTP clients that the pool opens, in order."""
    made: list[httpx.AsyncClient] = []

    def noted(url: str, limits: PeerLimits | None = None, *proof: Any, own: bool) -> httpx.AsyncClient:
        made.append(http_client(url, limits, *proof, own=own))
        return made[-1]

    monkeypatch.setattr(remote_agents, "http_client", noted)
    return made


async def test_a_delegation_that_runs_while_the_agents_card_changes_is_completed(
    opened: list[httpx.AsyncClient],
) -> None:
    working = Working()
    async with changing(working, opened) as (agent, url), connected(url) as client:
        running = asyncio.create_task(ask(client, "Dig first"))
        await working.begun.wait()
        await change(agent)
        second = await ask(client, "Dig second")
        assert [each.is_closed for each in opened] == [False, False]
        working.gate.set()
        first = await running
        assert [each.is_closed for each in opened] == [True, False]
    assert (first.state, first.text) == ("completed", "It said first")
    assert (second.state, second.text) == ("completed", "It said second")
    assert [each.is_closed for each in opened] == [True, True]


async def test_a_cancel_reaches_the_agent_whose_card_has_changed_in_the_meantime(
    opened: list[httpx.AsyncClient],
) -> None:
    working = Working()
    async with changing(working, opened) as (agent, url), connected(url) as client:
        ids: list[str] = []

        async def follow() -> None:
            async for event in client.send_message(message("Dig first")):
                if event.HasField("task"):
                    ids.append(event.task.id)

        running = asyncio.create_task(follow())
        await working.begun.wait()
        await change(agent)
        await ask(client, "Dig second")
        await client.cancel_task(CancelTaskRequest(id=ids[0]))
        assert agent.canceled.is_set()
        await running
        assert [each.is_closed for each in opened] == [True, False]


async def test_a_client_whose_agent_has_another_card_is_closed_at_once_where_nobody_uses_it(
    opened: list[httpx.AsyncClient],
) -> None:
    working = Working()
    working.gate.set()
    async with changing(working, opened) as (agent, url), connected(url) as client:
        await ask(client, "Dig first")
        await change(agent)
        await ask(client, "Dig second")
        assert [each.is_closed for each in opened] == [True, False]

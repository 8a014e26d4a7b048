"""Following a task whose stream ended, against a real server in this process."""

from __future__ import annotations

import asyncio

import pytest

from multi_agents.cli.errors import AgentRefused, ConnectionLost
from multi_agents.cli.peer.connection import connect
from multi_agents.cli.peer.events import StatusSeen
from multi_agents.cli.peer.turn import follow, run_turn
from tests.e2e.cli.scripted_agent import ScriptedAgent, Turn, serve


async def test_a_task_that_nobody_works_on_is_given_up_after_a_while():
    async def leaving(turn: Turn) -> None:
        await turn.task()
        await turn.status("working")

    async with serve(ScriptedAgent(leaving)) as url, connect(url) as peer:
        task = ""
        async for event in peer.send("go", context_id="c"):
            if isinstance(event, StatusSeen):
                task = event.task_id
        with pytest.raises(AgentRefused, match=f"task {task} is not finished"):
            async for _ in follow(peer, task, quiet_seconds=0.3):
                pass


async def test_an_answer_without_task_or_message_is_refused():
    async with serve(ScriptedAgent(nothing)) as url, connect(url) as peer:
        with pytest.raises(AgentRefused):
            async for _ in run_turn(peer, "go", context_id="c"):
                pass


async def nothing(turn: Turn) -> None:
    del turn


async def test_an_agent_that_goes_away_in_the_middle_is_reported_as_lost():
    async def hanging(turn: Turn) -> None:
        await turn.task()
        await asyncio.Event().wait()

    async with serve(ScriptedAgent(hanging)) as url, connect(url) as peer:
        events = peer.send("go", context_id="c")
        task = ""
        async for event in events:
            if isinstance(event, StatusSeen):
                task = event.task_id
                break
        await events.aclose()
    async with connect_closed(url) as peer:
        with pytest.raises(ConnectionLost, match="was lost"):
            await peer.get_task(task)


def connect_closed(url: str):
    """A client whose agent is gone: its card was read while it was there."""
    from contextlib import asynccontextmanager

    from a2a.client import ClientConfig
    from a2a.client.client_factory import ClientFactory
    from a2a.types import AgentCard, AgentInterface

    from multi_agents.cli.peer.connection import Peer, http_client

    @asynccontextmanager
    async def open_peer():
        card = AgentCard(
            supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")]
        )
        async with http_client(url) as http:
            yield Peer(url, card, ClientFactory(ClientConfig(httpx_client=http)).create(card))

    return open_peer()

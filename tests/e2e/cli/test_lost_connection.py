"""A message whose agent cannot be reached is refused with the reason, and the chat goes on."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.cli.terminal import fresh_terminal
from tests.e2e.delegation.hostile import TASK, Body, Hostile, hostile
from tests.ports import free_port


async def _done(agent: Hostile) -> Body:
    yield agent.event({"task": TASK | {"status": {"state": "TASK_STATE_COMPLETED"}}})
    yield b""


async def test_a_chat_outlives_a_connection_that_is_lost(tmp_path: Path) -> None:
    async with hostile(_done) as agent:
        here = {"url": agent.url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        agent.interfaces = [here | {"url": f"http://127.0.0.1:{free_port()}"}]
        async with fresh_terminal("chat", "--url", agent.url, home=tmp_path) as screen:
            await screen.asks()
            screen.type("hello\r")
            at = await screen.shows("Error [connection_lost]")
            await screen.asks()
            screen.type("/help\r")
            await screen.shows("/quit", since=at)
            await screen.asks()
            screen.type("/quit\r")
            assert await screen.ends() == 0

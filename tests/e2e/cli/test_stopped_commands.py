"""Ctrl-C on a command of a chat whose agent does not answer: it ends the command, and the chat goes on."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from multi_agents.cli.chat.commands import run_command
from multi_agents.cli.chat.downloads import Downloads
from multi_agents.cli.chat.interrupts import MAYBE_DONE, NO_ANSWER, watch_chat
from multi_agents.cli.chat.session import Chat
from multi_agents.cli.chat.talk import talk
from multi_agents.cli.errors import Stopped
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.peer.connection import Peer, connect
from tests.e2e.delegation.hostile import Body, Hostile, hostile
from utils.a2a_common.protocol.conversations import CONVERSATIONS_EXTENSION
from utils.a2a_common.protocol.memories import MEMORY_EXTENSION

DECLARED = [{"uri": uri} for uri in (CONVERSATIONS_EXTENSION, MEMORY_EXTENSION)]


class Deaf(Hostile):
    """An agent that reads requests and answers none but for its card, which is read no second time."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.reached = asyncio.Event()

    def card(self) -> dict[str, Any]:
        card = super().card()
        return card | {"capabilities": card["capabilities"] | {"extensions": DECLARED}}

    async def show(self, request: Request) -> Response:
        if self.cards:
            await self._never()
        return await super().show(request)

    async def rpc(self, _request: Request) -> Response:
        return await self._never()

    async def _never(self) -> Response:
        self.reached.set()
        await asyncio.Event().wait()
        raise AssertionError


async def unused(_agent: Hostile) -> Body:
    raise AssertionError
    yield b""


@asynccontextmanager
async def deaf() -> AsyncIterator[tuple[Deaf, Peer]]:
    async with asyncio.timeout(60), hostile(unused, made=Deaf) as agent, connect(agent.url) as peer:
        assert isinstance(agent, Deaf)
        yield agent, peer


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/conversations", NO_ANSWER),
        ("/resume 1", NO_ANSWER),
        ("/agents", NO_ANSWER),
        ("/clear", NO_ANSWER),
        ("/memory", NO_ANSWER),
        ("/memory add I like tea", MAYBE_DONE),
        ("/cancel", MAYBE_DONE),
    ],
)
async def test_it_ends_a_command_that_waits_for_the_agent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    async with deaf() as (agent, peer):
        with watch_chat() as watch:
            chat = Chat(peer, "c1", as_json=False, quiet=True, downloads=Downloads(tmp_path), watch=watch)
            chat.waiting_task = "t1"
            command = asyncio.create_task(run_command(chat, line))
            await agent.reached.wait()
            watch.press()
            assert await command
    assert capsys.readouterr().err.strip() == said


@pytest.mark.parametrize("named", [{"resumed": "1"}, {"context_id": "c1"}], ids=["resumed", "named"])
async def test_it_ends_a_chat_that_looks_for_its_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: dict[str, Any]
) -> None:
    monkeypatch.setenv("PLATFORM_ENGINEER_HOME", str(tmp_path))
    async with deaf() as (agent, peer):
        talking = asyncio.create_task(talk(peer, downloads=Downloads(tmp_path), **named))
        await agent.reached.wait()
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(Stopped) as stopped:
            await talking
    assert stopped.value.exit_code == ExitCode.INTERRUPTED

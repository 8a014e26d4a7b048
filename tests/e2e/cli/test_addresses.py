"""Addresses: what a card says, what is refused of a card from elsewhere, and what a proxy must not see."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
from starlette.requests import Request
from starlette.responses import Response

from multi_agents.cli.peer.connection import connect
from tests.e2e.cli.command import run
from tests.e2e.cli.scripted_agent import ScriptedAgent, Turn, serve
from tests.e2e.delegation.hostile import Body, Hostile, hostile
from tests.e2e.observability.processes import KEYS, ready, started
from tests.support.passing_time import pass_seconds
from utils.a2a_common.client.transport.connection import CONNECT_SECONDS

NOBODY = "http://127.0.0.1:9"


@asynccontextmanager
async def keys(folder, **settings: str) -> AsyncIterator[str]:
    """An agent in a process of its own."""
    with started(folder, "keys", KEYS, {"EMBEDDINGS_PROVIDER": "none", **settings}) as served:
        async with ready(served):
            yield served.url


async def interfaces(url: str) -> list[str]:
    async with httpx.AsyncClient(trust_env=False) as http:
        card = (await http.get(f"{url}/.well-known/agent-card.json")).json()
    return sorted({each["url"] for each in card["supportedInterfaces"]})


async def test_the_card_of_a_process_names_its_public_url(tmp_path):
    public = "https://agents.example:8443/keys"
    async with keys(tmp_path, PUBLIC_URL=public) as url:
        assert await interfaces(url) == [f"{public}/", f"{public}/rest"]


async def done(turn: Turn) -> None:
    await turn.task()
    await turn.chunk("Here.", append=False)
    await turn.status("completed")


def as_proxy(app: Any) -> Any:
    """The application, asked as a proxy is: with the whole address in the request's first line."""

    async def proxied(scope: Any, receive: Any, send: Any) -> None:
        await app({**scope, "path": urlsplit(scope["path"]).path}, receive, send)

    return proxied


async def test_doctor_refuses_a_card_from_elsewhere_that_names_this_machine(tmp_path):
    """The proxy stands for elsewhere: it answers for a name that is not this machine's."""
    async with serve(ScriptedAgent(done), wrap=as_proxy) as url:
        proxied = {"HTTP_PROXY": url, "NO_PROXY": "", "no_proxy": ""}
        found = await run(
            "doctor", "--json", home=tmp_path, SUB_AGENTS="weather=http://agents.example", **proxied
        )
        chat = await run("chat", "--url", "http://agents.example", "--ask", "hi", home=tmp_path, **proxied)
    wrong = [one["message"] for one in json.loads(found.out) if one["level"] == "wrong"]
    assert found.code == 2
    assert any("weather" in one and "loopback" in one and "PUBLIC_URL" in one for one in wrong)
    assert chat.code == 3
    assert "PUBLIC_URL" in chat.err
    assert "Here." not in chat.out


async def test_a_chat_with_this_machine_goes_past_a_proxy(tmp_path):
    proxied = {"HTTP_PROXY": NOBODY, "ALL_PROXY": NOBODY, "NO_PROXY": "", "no_proxy": ""}
    async with asyncio.timeout(60), serve(ScriptedAgent(done)) as url:
        answer = await run("chat", "--url", url, "--ask", "hi", home=tmp_path, **proxied)
    assert (answer.code, answer.out) == (0, "Here.\n")


class Busy(Hostile):
    """An agent that sends its card later than one that is not connected may be waited for."""

    async def show(self, request: Request) -> Response:
        await rounds()
        pass_seconds(2 * CONNECT_SECONDS)
        await rounds()
        return await super().show(request)


async def rounds() -> None:
    """Let everything that is ready run: a client waits for its answer then, or has given up."""
    for _ in range(20):
        await asyncio.sleep(0)


async def unused(_agent: Hostile) -> Body:
    raise AssertionError
    yield b""


async def test_an_agent_that_took_the_connection_and_is_busy_is_waited_for():
    async with hostile(unused, made=Busy) as agent, connect(agent.url) as peer:
        assert peer.card.name == "flood"

"""Streams that break and messages whose fate is unknown, over real HTTP to a real agent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest
from a2a.types.a2a_pb2 import ListTasksRequest, TaskState

from tests.e2e.agents.peers import Keys, connected
from tests.e2e.delegation.teams import model
from utils.a2a_common.client.delegation.remote_agent import RemoteAgent
from utils.a2a_common.client.stream.message import RemoteCall
from utils.a2a_common.client.transport.connection import Connection, fetch_card
from utils.a2a_common.protocol.delegation_context import DelegationContext
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedReply

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

COMPLETED = TaskState.TASK_STATE_COMPLETED


class Cut(httpx.AsyncByteStream):
    """A response that breaks off after some pieces; with none, before its first byte."""

    def __init__(self, inner: Any, pieces: int, *, quietly: bool) -> None:
        self._inner, self._pieces, self._quietly = inner, pieces, quietly

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        async for piece in self._inner:
            if count == self._pieces:
                break
            count += 1
            yield piece
        if not self._quietly:
            raise httpx.ReadError("the line broke")

    async def aclose(self) -> None:
        await self._inner.aclose()


class Unreliable(httpx.AsyncHTTPTransport):
    """Cuts the first streams that are opened."""

    def __init__(self, times: int, pieces: int, *, quietly: bool = False) -> None:
        super().__init__()
        self._left, self._pieces, self._quietly = times, pieces, quietly
        self.sent = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.sent += b"SendStreamingMessage" in request.content
        response = await super().handle_async_request(request)
        streams = "event-stream" in response.headers.get("content-type", "")
        if streams and self._left:
            self._left -= 1
            response.stream = Cut(response.stream, self._pieces, quietly=self._quietly)
        return response


def remote_call() -> RemoteCall:
    scope = DelegationContext("a", 1, 1, "parent")
    return RemoteCall("c1", "What is a?", str(uuid4()), str(uuid4()), scope, 20.0)


@asynccontextmanager
async def reaching(url: str, transport: httpx.AsyncHTTPTransport) -> AsyncIterator[RemoteAgent]:
    async with httpx.AsyncClient(transport=transport) as http:
        yield RemoteAgent("keys", Connection.open("keys", await fetch_card(http, url), http))


BREAKS: list[tuple[str, Callable[[], Unreliable]]] = [
    ("in the middle", lambda: Unreliable(1, 1)),
    ("in the middle, without a word", lambda: Unreliable(1, 1, quietly=True)),
    ("before the first byte", lambda: Unreliable(1, 0)),
    ("twice", lambda: Unreliable(2, 1)),
]


@pytest.mark.parametrize("make", [make for _, make in BREAKS], ids=[name for name, _ in BREAKS])
async def test_a_stream_that_breaks_is_taken_up_again_and_nothing_runs_twice(
    make: Callable[[], Unreliable],
) -> None:
    scripted, transport = model(["a is 1"]), make()
    async with running_agent(Keys, model=scripted) as url, reaching(url, transport) as remote:
        task = await remote.run(remote_call(), lambda _event: None)
        async with connected(url) as client:
            listed = (await client.list_tasks(ListTasksRequest())).tasks
    assert task.text() == "a is 1"
    assert len(scripted.requests) == len(listed) == 1
    assert transport.sent == 1


class Unlucky(Unreliable):
    """Cuts the first stream, and lets the task end before it is asked to take it up again, or refuses that."""

    def __init__(self, gate: asyncio.Event, *, refuses: bool) -> None:
        super().__init__(1, 1)
        self._gate, self._refuses = gate, refuses
        self.rejoined = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if b"SubscribeToTask" not in request.content:
            return await super().handle_async_request(request)
        self.rejoined += 1
        if self._refuses:
            asyncio.get_running_loop().call_later(0.3, self._gate.set)
            error = {"code": -32004, "message": "Streams are not taken up again."}
            asked = json.loads(request.content)["id"]
            return httpx.Response(200, json={"jsonrpc": "2.0", "id": asked, "error": error})
        self._gate.set()
        async with connected(str(request.url)) as client, asyncio.timeout(60):
            while (await client.list_tasks(ListTasksRequest())).tasks[0].status.state != COMPLETED:
                await asyncio.sleep(0.01)
        return await super().handle_async_request(request)


@pytest.mark.parametrize("refuses", [False, True], ids=["since it has ended", "on principle"])
async def test_a_task_whose_stream_cannot_be_taken_up_again_is_asked_for(*, refuses: bool) -> None:
    gate = asyncio.Event()
    scripted, transport = model([ScriptedReply(text="a is 1", gate=gate)]), Unlucky(gate, refuses=refuses)
    async with running_agent(Keys, model=scripted) as url, reaching(url, transport) as remote:
        task = await remote.run(remote_call(), lambda _event: None)
    assert task.text() == "a is 1"
    assert (transport.sent, transport.rejoined, len(scripted.requests)) == (1, 1, 1)


async def test_a_message_that_an_earlier_run_sent_is_found_and_not_sent_again() -> None:
    scripted, transport = model(["a is 1"]), Unreliable(0, 0)
    sent = remote_call()
    async with running_agent(Keys, model=scripted) as url, reaching(url, transport) as remote:
        await remote.run(sent, lambda _event: None)
        again = RemoteCall(
            sent.call_id, sent.text, sent.message_id, sent.context_id, sent.scope, 20.0, maybe_sent=True
        )
        task = await remote.run(again, lambda _event: None)
    assert task.text() == "a is 1"
    assert transport.sent == len(scripted.requests) == 1

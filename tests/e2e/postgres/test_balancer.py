"""Two supervisors behind the proxy of the compose profile `scale`, each of which is killed once."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.service.client import COMPLETED, Talk, http_client
from benchmarks.service.doors import RpcDoor
from benchmarks.service.gate import Gate, Present, open_gate
from benchmarks.service.processes import Service, running_service
from benchmarks.service.script import SAY, SUPERVISOR, Order
from tests.e2e.postgres.nginx import balanced
from tests.postgres import PostgresServer

pytestmark = [
    pytest.mark.servers,
    pytest.mark.processes,
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("postgres"),
]


@dataclass
class Stage:
    """Two supervisors behind the proxy. Each answer waits in its middle until it may go on."""

    service: Service
    http: httpx.AsyncClient
    url: str
    held: Mapping[str, Held]


class Held:
    """An answer that waits."""

    def __init__(self) -> None:
        self.waits, self.go_on = asyncio.Event(), asyncio.Event()


@pytest.fixture
async def stage(tmp_path: Path, postgres: PostgresServer) -> AsyncIterator[Stage]:
    held, gate = defaultdict[str, Held](Held), Gate()

    async def hold(key: str, place: str, present: Present) -> None:
        del place, present
        held[key].waits.set()
        await held[key].go_on.wait()

    gate.on_arrival = hold
    settings = {
        "DATABASE_URL": postgres.new_database(),
        "DATABASE_CONNECT_SECONDS": "60",
        "TAKEOVER_SECONDS": "3",
    }
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(open_gate(gate))
        service = await stack.enter_async_context(running_service(tmp_path, gate, settings, replicas=2))
        urls = [each.url for each in service.replicas[SUPERVISOR]]
        url = await stack.enter_async_context(balanced(tmp_path, urls))
        http = await stack.enter_async_context(http_client())
        yield Stage(service, http, url, held)


async def test_when_its_supervisor_is_killed_a_call_is_answered_and_a_stream_is_followed_at_the_other(
    stage: Stage,
):
    """The proxy gives the first request to the first supervisor, and the second one to the other, which has none."""
    first, second = stage.service.replicas[SUPERVISOR]
    called, streamed = Order("called", SAY, 40), Order("streamed", SAY, 40)
    call = asyncio.create_task(Talk(stage.http, stage.url).send(called.text, streamed=False))
    async with asyncio.timeout(300):
        await stage.held[called.key].waits.wait()
        params = {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": streamed.text}]}}
        answers: Any = RpcDoor(stage.http, stage.url).events("SendStreamingMessage", params)
        async with aclosing(answers):
            told = [await anext(answers)]
            while (
                "artifactUpdate" not in told[-1]["result"]
            ):  # before the answer is whole: it is not buffered
                told.append(await anext(answers))
            await first.kill()
            stage.held[called.key].go_on.set()
            seen = await call
            assert (seen.state, seen.text, seen.breaks, seen.waited) == (COMPLETED, called.answer, 0, 0)
            await first.start()
            await second.kill()
            stage.held[streamed.key].go_on.set()
            with pytest.raises(httpx.TransportError):
                await _exhausted(answers)
        seen = await Talk(stage.http, stage.url).follow(told[0]["result"]["task"]["id"])
    assert (seen.state, seen.text, seen.waited) == (COMPLETED, streamed.answer, 0)


async def _exhausted(answers: AsyncIterator[Any]) -> None:
    async for _ in answers:
        pass

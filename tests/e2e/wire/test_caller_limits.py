"""What one caller may ask for, over every binding; another one is not hindered by it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from a2a.types.a2a_pb2 import TaskState
from structlog.testing import capture_logs

from tests.e2e.agents.peers import ask, connected
from tests.e2e.delegation.teams import model, results, supervising
from tests.e2e.wire.agents import Stage, card
from tests.e2e.wire.test_refusals import HTTP, Gate, refused_over_grpc
from tests.e2e.wire.wiring import HEADERS, Wire, message, serving, state
from utils.a2a_common.handler.callers import CallerLimits
from utils.errors import TooManyRequests
from utils.testing.live_server import loopback_socket
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

ONE_OPEN = {"CALLER_OPEN_REQUESTS": "1", "GRPC_PORT": "0"}


@asynccontextmanager
async def one_open() -> AsyncIterator[tuple[Wire, dict[str, Any]]]:
    """An agent that answers one request of a caller at a time, and does."""
    gate = Gate()
    async with (
        serving(gate, settings=ONE_OPEN) as wire,
        wire.events("SendStreamingMessage", {"message": message()}) as events,
    ):
        first = await anext(events)
        yield wire, first["task"]
        gate.go.set()


@pytest.mark.parametrize("way", HTTP)
async def test_a_caller_with_too_many_open_requests_is_answered_429_and_when_to_come_again(way: str) -> None:
    path, body, headers = HTTP[way]
    async with one_open() as (wire, _):
        answer = await wire.http.post(f"{wire.url}{path}", json=body, headers=headers)
    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "2"
    assert "limit of requests per caller" in answer.text


async def test_over_grpc_such_a_caller_is_answered_resource_exhausted() -> None:
    async with one_open() as (wire, _):
        assert await refused_over_grpc(wire) == [(grpc.StatusCode.RESOURCE_EXHAUSTED, "2")] * 4


async def test_another_tenant_is_served_meanwhile_and_what_runs_can_be_canceled() -> None:
    async with one_open() as (wire, task):
        refused = await wire.http.post(
            f"{wire.url}/rest/message:send", json=HTTP["REST 1.0"][1], headers=HEADERS
        )
        listed = await wire.rpc("ListTasks", {"tenant": "acme"})
        canceled = await wire.rpc("CancelTask", {"id": task["id"]})
    assert refused.status_code == 429
    assert listed["result"]["tasks"] == []
    assert state(canceled["result"]) == "canceled"


async def test_past_its_requests_of_a_minute_a_caller_has_to_wait() -> None:
    async def quick(stage: Stage) -> None:
        await stage.task()
        await stage.status(TaskState.TASK_STATE_COMPLETED)

    async with serving(quick, settings={"CALLER_REQUESTS_PER_MINUTE": "3"}) as wire:
        path, body, headers = HTTP["JSON-RPC 1.0"]
        answers = [await wire.http.post(f"{wire.url}{path}", json=body, headers=headers) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 20
    assert answers[-1].json()["error"]["data"][0]["reason"] == "TOO_MANY_REQUESTS"


async def test_past_its_turns_a_caller_waits_also_with_messages_that_return_at_once() -> None:
    gate = Gate()
    given = {"message": message(), "configuration": {"returnImmediately": True}}
    async with serving(gate, settings={"CALLER_TURNS": "1"}) as wire:
        first = await wire.http.post(f"{wire.url}/rest/message:send", json=given, headers=HEADERS)
        again = {**given, "message": message()}
        second = await wire.http.post(f"{wire.url}/rest/message:send", json=again, headers=HEADERS)
        other = await wire.rpc("SendMessage", {**again, "tenant": "acme"})
        gate.go.set()
    assert first.status_code == 200
    assert second.status_code == 429
    assert int(second.headers["Retry-After"]) >= 1
    assert state(other["result"]["task"]) in ("submitted", "working")


async def test_callers_whose_turns_do_not_end_leave_a_place_to_another_one() -> None:
    gate = Gate()
    now = {"returnImmediately": True}
    async with serving(gate, settings={"MAX_CONCURRENT_TURNS": "4", "FAIR_TURNS": "true"}) as wire:
        for tenant in ("first", "second") * 4:
            await wire.rpc("SendMessage", {"message": message(), "configuration": now, "tenant": tenant})
        asked = {"message": message(), "tenant": "third"}
        async with wire.events("SendStreamingMessage", asked) as events:
            async with asyncio.timeout(30):
                while not (event := await anext(events)).get("statusUpdate"):
                    pass
            gate.go.set()
    assert state(event["statusUpdate"]) == "working"


async def test_our_own_client_waits_until_it_is_served() -> None:
    gate = Gate()
    listener = loopback_socket()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    top = model([calls(call("slow", "c1", request="Work")), "It has worked."])
    async with (
        serving(gate, shown=card(url=url), listener=listener, settings=ONE_OPEN) as sub,
        supervising({"slow": url}, top) as supervisor,
        sub.events("SendStreamingMessage", {"message": message()}) as events,
        connected(supervisor) as client,
    ):
        await anext(events)
        with capture_logs() as logged:
            asked = asyncio.create_task(ask(client, "Work, please"))
            while not any(entry.get("code") == TooManyRequests.code for entry in logged):
                await asyncio.sleep(0.01)
        gate.go.set()
        answer = await asked
    assert (answer.state, answer.text) == ("completed", "It has worked.")
    assert results(top)
    assert len(sub.agent.seen) == 2


def test_requests_come_back_with_time_and_callers_far_from_their_limit_are_forgotten() -> None:
    now = 0.0
    limits = CallerLimits(per_minute=2, clock=lambda: now)

    def ask_once(owner: str = "ann") -> float:
        try:
            with limits.held(owner):
                return 0.0
        except TooManyRequests as error:
            return error.retry_after

    assert [ask_once(), ask_once(), ask_once()] == [0.0, 0.0, 30.0]
    assert ask_once("bob") == 0.0
    now = 29.0
    assert ask_once() == pytest.approx(1.0)
    now = 31.0
    assert ask_once() == 0.0
    assert ask_once() > 0
    now = 10_000.0
    for number in range(20_001):
        ask_once(f"caller {number}")
        now += 60.0
    assert len(limits._callers) <= 10_001

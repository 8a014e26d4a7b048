"""Each answer names which of the extensions that its client requested are active."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import grpc.aio
import httpx
import pytest
from a2a.types import a2a_pb2_grpc

from tests.e2e.wire.ways import Served, asking, served
from tests.e2e.wire.wiring import HEADERS, message
from utils.a2a_common import BaseLangGraphAgent
from utils.a2a_common.protocol.extensions import PLAN_EXTENSION, USAGE_EXTENSION
from utils.testing.scripted_model import ScriptedModel

REQUESTED = f"{USAGE_EXTENSION}, urn:nobody:knows:v1 ,{PLAN_EXTENSION}"
ACTIVE = {USAGE_EXTENSION, PLAN_EXTENSION}


class Plain(BaseLangGraphAgent):
    name = "plain"
    description = "Does the usual."


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(Plain, ScriptedModel(script=lambda _: "Hello."), tmp_path) as made:
        yield made


def named(header: str | None) -> set[str]:
    return {uri.strip() for uri in (header or "").split(",")}


async def headers_of(place: Served, path: str, body: object, requested: dict[str, str]) -> httpx.Headers:
    async with (
        httpx.AsyncClient(trust_env=False) as http,
        http.stream("POST", place.url + path, json=body, headers={**HEADERS, **requested}) as answer,
    ):
        await answer.aread()
        assert answer.status_code == 200
        return answer.headers


@pytest.mark.parametrize("method", ["SendMessage", "SendStreamingMessage"])
async def test_json_rpc_names_those_of_the_requested_that_the_card_declares(
    place: Served, method: str
) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message()}}
    told = await headers_of(place, "/", body, {"A2A-Extensions": REQUESTED})
    assert named(told["A2A-Extensions"]) == ACTIVE
    assert "X-A2A-Extensions" not in told


@pytest.mark.parametrize("path", ["/rest/message:send", "/rest/message:stream"])
async def test_http_json_names_those_of_the_requested_that_the_card_declares(
    place: Served, path: str
) -> None:
    told = await headers_of(place, path, {"message": message()}, {"A2A-Extensions": REQUESTED})
    assert named(told["A2A-Extensions"]) == ACTIVE


@pytest.mark.parametrize("requested", [{}, {"A2A-Extensions": "urn:nobody:knows:v1"}], ids=str)
async def test_an_answer_for_which_no_extension_is_active_names_none(
    place: Served, requested: dict[str, str]
) -> None:
    told = await headers_of(place, "/rest/message:send", {"message": message()}, requested)
    assert "A2A-Extensions" not in told


async def test_a_client_of_0_3_is_answered_in_the_header_that_it_knows(place: Served) -> None:
    told = await headers_of(
        place, "/rest/message:send", {"message": message()}, {"X-A2A-Extensions": REQUESTED}
    )
    assert named(told["X-A2A-Extensions"]) == ACTIVE
    assert "A2A-Extensions" not in told


async def test_grpc_names_them_in_the_metadata_ahead_of_an_answer(place: Served) -> None:
    metadata = (("a2a-version", "1.0"), ("a2a-extensions", REQUESTED))
    async with grpc.aio.insecure_channel(f"127.0.0.1:{place.grpc_port}") as channel:
        stub = a2a_pb2_grpc.A2AServiceStub(channel)
        sent = stub.SendMessage(asking("hi"), metadata=metadata)
        streamed = stub.SendStreamingMessage(asking("hi"), metadata=metadata)
        plain = stub.SendMessage(asking("hi"), metadata=metadata[:1])
        ahead = [dict(await call.initial_metadata()) for call in (sent, streamed, plain)]
        events = [event async for event in streamed]
        await sent, await plain
    assert named(ahead[0].get("a2a-extensions")) == named(ahead[1].get("a2a-extensions")) == ACTIVE
    assert "a2a-extensions" not in ahead[2]
    assert events

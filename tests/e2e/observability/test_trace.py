"""The trace id that a user sees is the one that the caller gave."""

from __future__ import annotations

import grpc.aio
import httpx
import pytest
from a2a.types import a2a_pb2_grpc
from a2a.types.a2a_pb2 import Message, Part, Role, SendMessageRequest

from tests.e2e.agents.peers import Keys
from tests.e2e.wire.agents import echo
from tests.e2e.wire.wiring import HEADERS, message, serving
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.a2a_common.protocol.trace_context import trace_of
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


async def trace_of_a_failure(headers: dict[str, str]) -> str:
    model = ScriptedModel(script=[ZeroDivisionError("inside")])
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message("hello")}}
    async with (
        running_agent(Keys, model=model) as url,
        httpx.AsyncClient(trust_env=False, timeout=60) as http,
    ):
        answer = await http.post(url, json=body, headers={**HEADERS, **headers})
    found: str = answer.json()["result"]["task"]["metadata"][ERROR_EXTENSION]["trace_id"]
    return found


async def test_an_error_names_the_trace_of_its_caller() -> None:
    assert await trace_of_a_failure({"traceparent": TRACEPARENT}) == TRACE


@pytest.mark.parametrize("wrong", ["", "nonsense", f"00-{'0' * 32}-00f067aa0ba902b7-01", "x" * 9000])
async def test_a_missing_or_wrong_trace_context_is_replaced_by_a_new_one(wrong: str) -> None:
    found = await trace_of_a_failure({"traceparent": wrong})
    assert len(found) == 32
    assert found not in {"0" * 32, TRACE}


async def test_a_grpc_call_carries_its_trace_in_its_metadata() -> None:
    sent = Message(message_id="m-1", role=Role.ROLE_USER, parts=[Part(text="hi")])
    metadata = (("a2a-version", "1.0"), ("traceparent", TRACEPARENT), ("other", "left"))
    async with serving(echo, settings={"GRPC_PORT": "0"}) as wire:
        target = f"127.0.0.1:{wire.app.state.grpc_port}"
        async with grpc.aio.insecure_channel(target) as channel:
            stub = a2a_pb2_grpc.A2AServiceStub(channel)
            await stub.SendMessage(SendMessageRequest(message=sent), metadata=metadata)
        assert trace_of(wire.agent.seen[0]) == {"traceparent": TRACEPARENT}

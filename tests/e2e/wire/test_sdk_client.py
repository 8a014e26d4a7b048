"""The SDK's own client against a served agent, over each binding."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import grpc.aio
import httpx
import pytest
from a2a.client import Client, ClientConfig, create_client
from a2a.compat.v0_3 import a2a_v0_3_pb2, a2a_v0_3_pb2_grpc
from a2a.types import a2a_pb2_grpc
from a2a.types.a2a_pb2 import (
    GetExtendedAgentCardRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
    TaskState,
)

from tests.e2e.wire.agents import Scripted, card, echo
from tests.support.task_logs import memory_log
from utils.a2a_common.server.agent_service import AgentService
from utils.a2a_common.server.app import build_app
from utils.settings import ServerSettings
from utils.testing.live_server import loopback_socket, running

REQUEST = SendMessageRequest(message=Message(message_id="m", role=Role.ROLE_USER, parts=[Part(text="hi")]))
VERSION = (("a2a-version", "1.0"),)


def service(url: str = "http://127.0.0.1:1") -> AgentService:
    return AgentService(card=card(url=url), executor=Scripted(echo), log=memory_log())


def assert_echo(events: list[StreamResponse]) -> None:
    kinds = [event.WhichOneof("payload") for event in events]
    assert kinds == ["task", "status_update", "artifact_update", "status_update"]
    assert events[2].artifact_update.artifact.parts[0].text == "hi"
    assert events[3].status_update.status.state == TaskState.TASK_STATE_COMPLETED


@asynccontextmanager
async def echoing(binding: str) -> AsyncIterator[Client]:
    """The client of an agent that answers with what it is asked, over one binding."""
    listener = loopback_socket()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    app = build_app(service(url), ServerSettings.load({}))
    async with running(app, listener=listener), httpx.AsyncClient(trust_env=False, timeout=60) as http:
        config = ClientConfig(httpx_client=http, supported_protocol_bindings=[binding])
        yield await create_client(url, client_config=config)


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
async def test_the_sdks_client_reads_the_card_and_streams(binding):
    async with echoing(binding) as client:
        events = [event async for event in client.send_message(REQUEST)]
        assert_echo(events)
        task = await client.get_task(GetTaskRequest(id=events[0].task.id))
        assert task.artifacts[0].parts[0].text == "hi"
        listed = await client.list_tasks(ListTasksRequest())
        assert [entry.id for entry in listed.tasks] == [task.id]


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
async def test_separators_of_lines_in_a_text_break_no_stream(binding):
    """People paste them from documents and chats; the SDK's client reads lines as `str.splitlines` does."""
    text = "first\u2028second\u2029third\x85fourth\x0bfifth"
    request = SendMessageRequest(
        message=Message(message_id="m", role=Role.ROLE_USER, parts=[Part(text=text)])
    )
    async with echoing(binding) as client:
        events = [event async for event in client.send_message(request)]
        assert events[0].task.history[0].parts[0].text == text
        assert events[2].artifact_update.artifact.parts[0].text == text


@pytest.fixture
async def channel() -> AsyncIterator[grpc.aio.Channel]:
    app = build_app(service(), ServerSettings.load({"GRPC_PORT": "0"}))
    async with running(app), grpc.aio.insecure_channel(f"127.0.0.1:{app.state.grpc_port}") as channel:
        yield channel


async def test_grpc_answers_and_streams(channel):
    stub = a2a_pb2_grpc.A2AServiceStub(channel)
    events = [event async for event in stub.SendStreamingMessage(REQUEST, metadata=VERSION)]
    assert_echo(events)
    task = await stub.GetTask(GetTaskRequest(id=events[0].task.id), metadata=VERSION)
    assert task.artifacts[0].parts[0].text == "hi"


async def test_grpc_refuses_another_version_and_an_anonymous_extended_card(channel):
    stub = a2a_pb2_grpc.A2AServiceStub(channel)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await stub.SendMessage(REQUEST, metadata=(("a2a-version", "9.9"),))
    assert refused.value.code() in {grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.UNIMPLEMENTED}
    with pytest.raises(grpc.aio.AioRpcError):
        await stub.GetExtendedAgentCard(GetExtendedAgentCardRequest(), metadata=VERSION)


async def test_grpc_speaks_0_3_on_the_same_port(channel):
    stub = a2a_v0_3_pb2_grpc.A2AServiceStub(channel)
    old = a2a_v0_3_pb2.SendMessageRequest(
        request=a2a_v0_3_pb2.Message(
            message_id="m", role=a2a_v0_3_pb2.ROLE_USER, content=[a2a_v0_3_pb2.Part(text="hi")]
        )
    )
    answer = await stub.SendMessage(old)
    assert answer.task.artifacts[0].parts[0].text == "hi"

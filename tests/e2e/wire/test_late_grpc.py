"""Calls of gRPC without a message, or with one that is none, keep no place from other callers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
import pytest
from a2a.types import a2a_pb2, a2a_pb2_grpc

from tests.e2e.wire.agents import Stage
from tests.e2e.wire.wiring import serving
from tests.support.passing_time import pass_seconds
from utils.a2a_common.server.grpc.arrival import NOT_READABLE, TOO_LATE, TimelyMessages

pytestmark = pytest.mark.timeout(120)

CALLS = 8
SECONDS = 60
LIMIT = {"GRPC_PORT": "0", "BODY_TIMEOUT_SECONDS": str(SECONDS), "MAX_CONNECTIONS": str(CALLS)}
VERSION = (("a2a-version", "1.0"),)
METHODS = "/lf.a2a.v1.A2AService"
SENT = a2a_pb2.SendMessageRequest(message={"message_id": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]})


async def done(stage: Stage) -> None:
    await stage.task()
    await stage.status(a2a_pb2.TaskState.TASK_STATE_COMPLETED)


@pytest.mark.parametrize("method", ["SendMessage", "SendStreamingMessage"])
async def test_a_call_whose_message_does_not_come_ends_and_makes_room_for_another(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, arriving = TimelyMessages._first, asyncio.Semaphore(0)

    async def noted(calls: TimelyMessages, messages: AsyncIterator[Any], context: Any) -> Any:
        async def waited_for() -> AsyncIterator[Any]:
            arriving.release()
            async for message in messages:
                yield message

        return await first(calls, waited_for(), context)

    monkeypatch.setattr(TimelyMessages, "_first", noted)
    async with (
        serving(done, settings=LIMIT) as wire,
        grpc.aio.insecure_channel(f"127.0.0.1:{wire.app.state.grpc_port}") as channel,
    ):
        silent = [channel.stream_stream(f"{METHODS}/{method}")(metadata=VERSION) for _ in range(CALLS)]
        for _ in silent:
            await arriving.acquire()
        pass_seconds(SECONDS)
        for ended in await asyncio.gather(*(call.code() for call in silent)):
            assert ended is grpc.StatusCode.DEADLINE_EXCEEDED
        assert {await call.details() for call in silent} == {TOO_LATE}
        answer = await a2a_pb2_grpc.A2AServiceStub(channel).SendMessage(SENT, metadata=VERSION)
        assert answer.task.status.state == a2a_pb2.TaskState.TASK_STATE_COMPLETED


@pytest.mark.parametrize("sent", [[], [b"\xff" * 100]])
async def test_a_call_with_no_message_or_an_unreadable_one_is_told_so(sent: list[bytes]) -> None:
    async with (
        serving(done, settings={"GRPC_PORT": "0"}) as wire,
        grpc.aio.insecure_channel(f"127.0.0.1:{wire.app.state.grpc_port}") as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await channel.stream_unary(f"{METHODS}/SendMessage")(iter(sent), metadata=VERSION)
        assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert raised.value.details() == NOT_READABLE

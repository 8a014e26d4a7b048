"""Clients of gRPC that read nothing of what they asked for hold neither memory without bound nor a place for ever."""

from __future__ import annotations

import asyncio
import gc
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import grpc
import grpc.aio
import pytest
from a2a.types import a2a_pb2, a2a_pb2_grpc

from tests.e2e.wire.agents import Stage
from tests.e2e.wire.wiring import Wire, serving
from tests.support.passing_time import pass_seconds, passed
from utils.a2a_common.server.grpc import stalled as grpc_stalled
from utils.a2a_common.server.grpc.stalled import TOO_SLOW
from utils.observability.metrics import process_metrics

pytestmark = pytest.mark.timeout(120)

PIECES, PIECE = 120, 200_000
"""24 MB: more than any client takes that reads nothing."""
LIMIT = {"GRPC_PORT": "0", "WRITE_TIMEOUT_SECONDS": "1"}
PATIENCE = 60
PATIENT = {"GRPC_PORT": "0", "WRITE_TIMEOUT_SECONDS": str(PATIENCE)}
VERSION = (("a2a-version", "1.0"),)
SENT = a2a_pb2.SendMessageRequest(message={"message_id": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]})
STALLED = 'platform_engineer_refusals_total{reason="write_stalled"} '
OPEN = "platform_engineer_open_streams "


async def much(stage: Stage) -> None:
    await stage.task()
    await stage.status(a2a_pb2.TaskState.TASK_STATE_WORKING)
    for number in range(PIECES):
        await stage.chunk(f"{number:06} " + "x" * PIECE, append=number > 0)
    await stage.status(a2a_pb2.TaskState.TASK_STATE_COMPLETED)


def counted(name: str) -> float:
    lines = process_metrics().text().decode().splitlines()
    return next((float(line.removeprefix(name)) for line in lines if line.startswith(name)), 0.0)


async def until_open(streams: float) -> None:
    async with asyncio.timeout(60):
        while counted(OPEN) != streams:
            await asyncio.sleep(0.02)


@asynccontextmanager
async def stub_of(wire: Wire) -> AsyncIterator[a2a_pb2_grpc.A2AServiceStub]:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{wire.app.state.grpc_port}") as channel:
        yield a2a_pb2_grpc.A2AServiceStub(channel)


async def read_all(stream: AsyncIterator[a2a_pb2.StreamResponse], into: list[a2a_pb2.StreamResponse]) -> None:
    async for event in stream:
        into.append(event)


async def test_a_stream_of_which_its_client_takes_nothing_is_ended_and_the_client_is_told() -> None:
    before, stalled = counted(OPEN), counted(STALLED)
    async with serving(much, settings=LIMIT) as wire, stub_of(wire) as stub:
        stream = stub.SendStreamingMessage(SENT, metadata=VERSION)
        await until_open(before + 1)
        await until_open(before)
        assert counted(STALLED) == stalled + 1
        taken: list[a2a_pb2.StreamResponse] = []
        with pytest.raises(grpc.aio.AioRpcError) as ended:
            await read_all(stream, taken)
    assert (ended.value.code(), ended.value.details()) == (grpc.StatusCode.UNAVAILABLE, TOO_SLOW)
    assert len(taken) < PIECES / 2


async def test_a_client_that_reads_gets_the_whole_stream() -> None:
    events: list[a2a_pb2.StreamResponse] = []
    async with serving(much, settings=PATIENT) as wire, stub_of(wire) as stub:
        async for event in stub.SendStreamingMessage(SENT, metadata=VERSION):
            events.append(event)
            if len(events) in (PIECES // 10, PIECES):  # together longer than a write may take
                pass_seconds(0.6 * PATIENCE)
    assert sum(event.HasField("artifact_update") for event in events) == PIECES


def taken_states(monkeypatch: pytest.MonkeyPatch) -> asyncio.Queue[int]:
    """The states that clients have taken from their streams."""
    write, states = grpc_stalled.StalledStreams._write, asyncio.Queue[int]()

    async def noted(
        streams: grpc_stalled.StalledStreams,
        event: a2a_pb2.StreamResponse,
        size: int,
        context: grpc.aio.ServicerContext,
    ) -> str:
        why: str = await write(streams, event, size, context)
        states.put_nowait(event.status_update.status.state)
        return why

    monkeypatch.setattr(grpc_stalled.StalledStreams, "_write", noted)
    return states


async def test_a_stream_that_has_nothing_to_say_for_longer_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = taken_states(monkeypatch)

    async def quiet(stage: Stage) -> None:
        await stage.task()
        await stage.status(a2a_pb2.TaskState.TASK_STATE_WORKING)
        while await taken.get() != a2a_pb2.TaskState.TASK_STATE_WORKING:
            pass
        await passed(2 * PATIENCE)
        await stage.status(a2a_pb2.TaskState.TASK_STATE_COMPLETED)

    async with serving(quiet, settings=PATIENT) as wire, stub_of(wire) as stub:
        events = [event async for event in stub.SendStreamingMessage(SENT, metadata=VERSION)]
    assert events[-1].status_update.status.state == a2a_pb2.TaskState.TASK_STATE_COMPLETED


async def test_times_so_long_that_they_are_no_limit_are_taken() -> None:
    async def short(stage: Stage) -> None:
        await stage.task()
        await stage.status(a2a_pb2.TaskState.TASK_STATE_COMPLETED)

    forever = {"GRPC_PORT": "0", "WRITE_TIMEOUT_SECONDS": "1e9", "HEADER_TIMEOUT_SECONDS": "1e9"}
    async with serving(short, settings=forever) as wire, stub_of(wire) as stub:
        events = [event async for event in stub.SendStreamingMessage(SENT, metadata=VERSION)]
    assert events[-1].HasField("task") or events[-1].HasField("status_update")


def frame(kind: int, flags: int, stream: int, body: bytes = b"") -> bytes:
    """A frame of HTTP/2."""
    return struct.pack(">I", len(body))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + body


@contextmanager
def deaf(port: int, *, room: int = 2**31 - 1, streams: int = 1) -> Iterator[socket.socket]:
    """A connection that asks for streams, allows so many bytes of each, and reads nothing, not even a ping."""
    headers = {
        b":method": b"POST",
        b":scheme": b"http",
        b":path": b"/lf.a2a.v1.A2AService/SendStreamingMessage",
        b":authority": b"localhost",
        b"content-type": b"application/grpc",
        b"te": b"trailers",
        b"a2a-version": b"1.0",
    }
    block = b"".join(
        b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value for name, value in headers.items()
    )
    body = SENT.SerializeToString()
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.connect(("127.0.0.1", port))
        client.sendall(
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
            + frame(4, 0, 0, struct.pack(">HI", 4, room))
            + frame(8, 0, 0, struct.pack(">I", 2**31 - 1 - 65_535))
            + b"".join(
                frame(1, 4, number, block)
                + frame(0, 1, number, b"\x00" + struct.pack(">I", len(body)) + body)
                for number in range(1, 2 * streams, 2)
            )
        )
        yield client


async def test_a_connection_that_takes_nothing_at_all_is_ended() -> None:
    before = counted(OPEN)
    async with serving(much, settings=LIMIT) as wire:
        with deaf(wire.app.state.grpc_port):
            await until_open(before + 1)
            await until_open(before)


LARGE = 600_000


async def waiting(stage: Stage) -> None:
    """A task of one large artifact that goes on."""
    await stage.task()
    await stage.status(a2a_pb2.TaskState.TASK_STATE_WORKING)
    await stage.chunk("x" * LARGE, append=False)
    await asyncio.Event().wait()


async def test_what_waits_for_one_connection_is_bounded_and_another_one_is_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grpc_stalled, "MOST_UNTAKEN", 2 * LARGE + 100_000)
    before, stalled = counted(OPEN), counted(STALLED)
    async with serving(waiting, settings=PATIENT) as wire, stub_of(wire) as stub:
        begun = stub.SendStreamingMessage(SENT, metadata=VERSION)
        while not (await begun.read()).HasField("artifact_update"):
            pass
        with deaf(wire.app.state.grpc_port, room=65_535, streams=5):
            await until_open(before + 3)
            async with asyncio.timeout(60):
                while counted(STALLED) < stalled + 3:
                    await asyncio.sleep(0.02)
            again = stub.SendStreamingMessage(SENT, metadata=VERSION)
            assert (await again.read()).ByteSize() > LARGE


def large_messages() -> int:
    """Tasks and events of this process that are as large as a whole task."""
    gc.collect()
    kinds = (a2a_pb2.Task, a2a_pb2.StreamResponse)
    return sum(isinstance(each, kinds) and each.ByteSize() > LARGE for each in gc.get_objects())


async def test_a_stream_that_waits_for_the_next_event_does_not_hold_the_whole_task_that_it_began_with() -> (
    None
):
    before = counted(OPEN)
    async with serving(waiting, settings=LIMIT) as wire, stub_of(wire) as stub:
        begun = stub.SendStreamingMessage(SENT, metadata=VERSION)
        while not (await begun.read()).HasField("artifact_update"):
            pass
        held = large_messages()
        task_id = (await stub.ListTasks(a2a_pb2.ListTasksRequest(), metadata=VERSION)).tasks[0].id
        asked = a2a_pb2.SubscribeToTaskRequest(id=task_id)
        streams = [stub.SubscribeToTask(asked, metadata=VERSION) for _ in range(3)]
        streams += [stub.SendStreamingMessage(SENT, metadata=VERSION) for _ in range(3)]
        for each in streams:
            assert (await each.read()).ByteSize() > LARGE
        await until_open(before + 7)
        async with asyncio.timeout(60):  # the server has sent a message before its frames let go of it
            while large_messages() != held:
                await asyncio.sleep(0.02)

"""How many connections there may be, and how long a body may take. What is answered slowly is not cut."""

from __future__ import annotations

import asyncio
import json
import resource
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import grpc.aio
import httpx
import pytest
from a2a.types import a2a_pb2 as pb
from a2a.types import a2a_pb2_grpc
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from tests.e2e.auth.people import RUNS, Desk
from tests.e2e.observability.processes import KEYS, ready, started
from tests.e2e.wire.test_endless_headers import SOON, seconds_open
from tests.e2e.wire.ways import Served, Way, asking, served
from tests.support.passing_time import passed
from utils.a2a_common.server.http import connections
from utils.a2a_common.server.http.connections import SPARE, TOO_MANY, Bounds, bounded, connections_within
from utils.testing.live_server import running
from utils.testing.scripted_model import ScriptedModel

pytestmark = [pytest.mark.timeout(120), pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]

POST = (
    b"POST /%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
)


async def slow(_: Request) -> StreamingResponse:
    async def pieces() -> AsyncIterator[str]:
        for number in range(8):
            yield f"data: {number}\n\n"
            await asyncio.sleep(0.25)

    return StreamingResponse(pieces(), media_type="text/event-stream")


class Held:
    """Answers that wait in their middle."""

    def __init__(self) -> None:
        self.begun = asyncio.Semaphore(0)
        self.go_on = asyncio.Event()

    async def answer(self, request: Request) -> StreamingResponse:
        await request.body()

        async def pieces() -> AsyncIterator[str]:
            yield "data: 1\n\n"
            self.begun.release()
            await self.go_on.wait()
            yield "data: 2\n\n"

        return StreamingResponse(pieces(), media_type="text/event-stream")


async def refused(_: Request) -> JSONResponse:
    """Answers before the body is there, as whoever is not known is answered."""
    return JSONResponse({}, status_code=401)


async def fine(_: Request) -> JSONResponse:
    return JSONResponse({"ok": True})


APP = Starlette(
    routes=[
        Route("/slow", slow, methods=["GET", "POST"]),
        Route("/refused", refused, methods=["POST"]),
        Route("/healthz", fine),
        Route("/", fine, methods=["POST"]),
        Route("/rest/tasks", fine),
    ]
)


@asynccontextmanager
async def held(url: str, count: int, said: bytes = b"") -> AsyncIterator[None]:
    """Hold connections open without a word, or with the beginning of a request."""
    port = int(url.rpartition(":")[2])
    async with AsyncExitStack() as stack:
        for _ in range(count):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(said)
            stack.callback(writer.close)
        yield


def once() -> httpx.AsyncClient:
    """A client with a new connection for each request."""
    return httpx.AsyncClient(trust_env=False, headers={"Connection": "close"})


async def test_a_body_that_drips_is_cut_off_also_where_the_answer_did_not_wait_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "GRACE_SECONDS", 0.5)
    monkeypatch.setattr(connections, "REFUSED_SECONDS", 60)  # it is not what cuts them off here
    async with running(APP, http=bounded(Bounds(body_seconds=0.5))) as url:
        port = int(url.rpartition(":")[2])
        found = await asyncio.gather(
            seconds_open(port, POST % b"refused", more=b" "),
            seconds_open(port, POST % b"refused", b"x" * 100),
            seconds_open(port, POST % b"slow", more=b" "),
        )
    assert all(0.9 < seconds < SOON for seconds in found), found


async def test_a_stream_and_a_slow_answer_outlast_every_limit() -> None:
    limits, held = Bounds(connections=4, per_address=4), Held()
    app = Starlette(routes=[Route("/held", held.answer, methods=["GET", "POST"])])
    async with (
        running(app, http=bounded(limits)) as url,
        httpx.AsyncClient(trust_env=False, timeout=None) as http,
    ):
        asked = (http.get(f"{url}/held"), http.post(f"{url}/held", json={"a": "b" * 1000}))
        asking = asyncio.gather(*asked)
        for _ in asked:
            await held.begun.acquire()
        await passed(10 * (limits.header_seconds + limits.body_seconds + limits.write_seconds))
        held.go_on.set()
        assert [answer.text.count("data:") for answer in await asking] == [2, 2]


async def test_past_the_limit_there_is_503_and_the_probes_are_answered() -> None:
    async with running(APP, http=bounded(Bounds(connections=5))) as url, once() as http:
        async with held(url, 5):
            rpc, rest = await http.post(f"{url}/", json={}), await http.get(f"{url}/rest/tasks")
            assert (await http.get(f"{url}/healthz")).status_code == 200
        for answer in (rpc, rest):
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert rpc.json()["error"]["message"] == TOO_MANY
        assert rest.json()["error"] == {"code": 503, "status": "UNAVAILABLE", "message": TOO_MANY}
        async with asyncio.timeout(60):
            while (await http.get(f"{url}/rest/tasks")).status_code == 503:
                pass  # the server has not seen yet that they are gone


async def test_far_past_the_limit_a_connection_is_closed_unread_where_none_is_idle() -> None:
    async with running(APP, http=bounded(Bounds(connections=5))) as url, held(url, 5 + SPARE, b"P"):
        port = int(url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        async with asyncio.timeout(60):
            with suppress(ConnectionError):
                assert await reader.read() == b""
        writer.close()


async def test_one_address_has_a_limit_of_its_own_where_that_is_set() -> None:
    elsewhere = httpx.AsyncHTTPTransport(local_address="127.0.0.2")
    async with running(APP, http=bounded(Bounds(per_address=3))) as url, once() as http:
        async with held(url, 2):
            assert (await http.get(f"{url}/rest/tasks")).status_code == 200
        async with held(url, 3), httpx.AsyncClient(trust_env=False, transport=elsewhere) as other:
            assert (await http.get(f"{url}/rest/tasks")).status_code == 503
            assert (await other.get(f"{url}/rest/tasks")).status_code == 200


def test_no_more_connections_are_taken_than_there_are_files_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 1024))
    assert [connections_within(limit) for limit in (1000, 100, 0)] == [128, 100, 128]


async def test_an_agent_has_the_limits_of_its_settings(tmp_path: Path) -> None:
    settings = {"BODY_TIMEOUT_SECONDS": "1", "MAX_CONNECTIONS": "8", "EMBEDDINGS_PROVIDER": "none"}
    with started(tmp_path, "keys", KEYS, settings) as served:
        async with ready(served), once() as http:
            port = int(served.url.rpartition(":")[2])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(POST % b"" + b"{")
            async with asyncio.timeout(SOON):
                answer = await reader.read()
            writer.close()
            told = (await http.get(f"{served.url}/metrics")).text
            assert 'platform_engineer_refusals_total{reason="body_late"} 1.0' in told
            head, _, body = answer.partition(b"\r\n\r\n")
            assert b" 408 " in head
            assert json.loads(body)["error"]["message"] == "The request's body did not arrive."
            async with held(served.url, 8):
                assert (await http.get(f"{served.url}/rest/tasks")).status_code == 503
                assert (await http.get(f"{served.url}/healthz")).status_code == 200


async def test_calls_over_grpc_are_bounded(tmp_path: Path) -> None:
    """A stream that is under way takes its place among the calls, and gives it back."""
    Desk.go = asyncio.Event()
    environ = {"MAX_CONNECTIONS": "1", "EMBEDDINGS_PROVIDER": "none"}
    async with served(Desk, ScriptedModel.of(), tmp_path, **environ) as agent:
        way = Way("GRPC", "1.0")
        async with agent.client(way) as one:
            stream = aiter(one.send_message(asking(RUNS)))
            task = (await anext(stream)).task
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await raw_get(agent, task.id)
            assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            Desk.go.set()
            events = [event async for event in stream]
            assert events[-1].status_update.status.state == pb.TaskState.TASK_STATE_COMPLETED
            async with asyncio.timeout(60):
                while True:
                    with suppress(grpc.aio.AioRpcError):
                        assert (await raw_get(agent, task.id)).id == task.id
                        break


async def raw_get(agent: Served, task_id: str) -> pb.Task:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{agent.grpc_port}") as channel:
        stub = a2a_pb2_grpc.A2AServiceStub(channel)
        found = await stub.GetTask(pb.GetTaskRequest(id=task_id), metadata=(("a2a-version", "1.0"),))
    assert isinstance(found, pb.Task)
    return found

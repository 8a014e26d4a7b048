"""What an agent may send is bounded, whatever it sends and over every binding."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route

from tests.e2e.agents.peers import ask, connected
from tests.e2e.delegation.hostile import COMPLETED, TASK, Body, Hostile, hostile
from tests.e2e.delegation.teams import model, results, supervising
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION
from utils.testing.live_agent import running_agent
from utils.testing.live_server import running
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

MIB = 1024 * 1024
BUFFERS = 8 * MIB
"""What may lie in sockets and servers between the two ends."""


def artifact(text: str, *, append: bool = True) -> dict[str, Any]:
    piece = {"artifactId": "a", "parts": [{"text": text}]}
    return {"artifactUpdate": {"taskId": "t1", "contextId": "c1", "artifact": piece, "append": append}}


def status(state: str = "WORKING", **fields: Any) -> dict[str, Any]:
    stands = {"state": f"TASK_STATE_{state}"}
    return {"statusUpdate": {"taskId": "t1", "contextId": "c1", "status": stands, **fields}}


def activity(number: int) -> dict[str, Any]:
    shown = {"kind": "tool_started", "call_id": f"c{number}", "tool": "dig", "agent": "flood"}
    return status(metadata={ACTIVITY_EXTENSION: shown})


async def sixty_megabytes(agent: Hostile) -> Body:
    yield agent.event({"task": TASK})
    for number in range(60):
        yield agent.event(artifact("x" * MIB, append=number > 0))
    yield agent.event(status("COMPLETED"))


async def one_giant_event(agent: Hostile) -> Body:
    yield agent.event({"task": TASK})
    yield b'data: {"x": "'
    for _ in range(50):
        yield b"x" * MIB
    yield b'"}\r\n\r\n'


async def a_giant_first_event(agent: Hostile) -> Body:
    del agent
    yield b'data: {"x": "'
    for _ in range(50):
        yield b"x" * MIB
    yield b'"}\r\n\r\n'


async def a_dense_event(agent: Hostile) -> Body:
    yield agent.event({"task": TASK})
    piece = {"artifactId": "a", "parts": [{"data": [0] * 200_000}]}
    yield agent.event({"artifactUpdate": {"taskId": "t1", "contextId": "c1", "artifact": piece}})
    yield agent.event(status("COMPLETED"))


async def endless_comments(agent: Hostile) -> Body:
    yield agent.event({"task": TASK})
    for _ in range(100):
        yield b": nothing\r\n\r\n" * 50_000


async def endless_states(agent: Hostile) -> Body:
    yield agent.event({"task": TASK})
    while True:
        yield agent.event(status()) * 100


async def sixty_megabytes_at_once(agent: Hostile) -> Body:
    whole = agent.wrapped(
        {"task": COMPLETED | {"artifacts": [{"artifactId": "a", "parts": [{"text": "@"}]}]}}
    )
    before, after = whole.split(b"@")
    yield before
    for _ in range(60):
        yield b"x" * MIB
    yield after


def asking(*more: str) -> ScriptedModel:
    return model([calls(call("flood", request="Dig")), "The flood agent sent too much.", *more])


STREAMS: list[tuple[Callable[[Hostile], Body], str]] = [
    (sixty_megabytes, "more than 8 MiB"),
    (one_giant_event, "one event of more than 4 MiB"),
    (a_giant_first_event, "one event of more than 4 MiB"),
    (a_dense_event, "one event of more than 100,000 values"),
    (endless_comments, "more than 8 MiB"),
    (endless_states, "more than 20,000 events"),
]


def floods() -> Iterator[Any]:
    """Each stream over JSON-RPC; over REST, which the same limits of the HTTP client hold for, `make test` tries the first."""
    for number, (body, limit) in enumerate(STREAMS):
        for binding in ("JSONRPC", "HTTP+JSON"):
            marks = pytest.mark.long if number and binding == "HTTP+JSON" else ()
            yield pytest.param(body, limit, binding, id=f"{body.__name__}-{binding}", marks=marks)


@pytest.mark.parametrize(("body", "limit", "binding"), list(floods()))
@pytest.mark.long
async def test_an_agent_that_sends_too_much_is_stopped_and_the_supervisor_goes_on(
    body: Callable[[Hostile], Body], limit: str, binding: str
) -> None:
    supervisor = asking("Hello.")
    async with (
        asyncio.timeout(60),
        hostile(body, binding=binding) as agent,
        supervising({"flood": agent.url}, supervisor) as url,
        connected(url) as client,
    ):
        answer = await ask(client, "Dig")
        await agent.canceled.wait()
        again = await ask(client, "hello")
    assert limit in answer.last_words
    assert again.text == "Hello."
    problem = json.loads(results(supervisor, 1)[0])
    assert problem["error"] == "peer_limit_exceeded"
    assert problem["message"].startswith("The flood agent sent ")
    assert limit in problem["message"]
    assert agent.sent < 8 * MIB + BUFFERS
    assert agent.asked.count("SendStreamingMessage") == 1


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
async def test_an_answer_without_a_stream_is_bounded_too(binding: str) -> None:
    supervisor = asking()
    async with (
        asyncio.timeout(60),
        hostile(sixty_megabytes_at_once, binding=binding, streaming=False) as agent,
        supervising({"flood": agent.url}, supervisor) as url,
        connected(url) as client,
    ):
        await ask(client, "Dig")
        await agent.canceled.wait()
    assert "more than 8 MiB" in results(supervisor, 1)[0]
    assert agent.sent < 8 * MIB + BUFFERS
    assert agent.asked.count("SendMessage") == 1


async def test_how_much_an_answer_may_be_is_a_setting() -> None:
    async def half_a_megabyte(agent: Hostile) -> Body:
        yield agent.event({"task": TASK})
        yield agent.event(artifact("x" * 500_000, append=False))
        yield agent.event(status("COMPLETED"))

    less, supervisor = {"SUB_AGENT_MAX_ANSWER_BYTES": "200000"}, asking()
    async with (
        hostile(half_a_megabyte) as agent,
        supervising({"flood": agent.url}, supervisor, less) as url,
        connected(url) as client,
    ):
        await ask(client, "Dig")
        await agent.canceled.wait()
    assert "more than 200,000 bytes" in results(supervisor, 1)[0]


async def test_a_large_answer_within_the_limits_is_taken_whole() -> None:
    async def seven_megabytes(agent: Hostile) -> Body:
        yield agent.event({"task": TASK})
        for number in range(7):
            yield agent.event(artifact("word, " * 170_000, append=number > 0))
        yield agent.event(status("COMPLETED"))

    supervisor = asking()
    async with (
        hostile(seven_megabytes) as agent,
        supervising({"flood": agent.url}, supervisor) as url,
        connected(url) as client,
    ):
        answer = await ask(client, "Dig")
    assert answer.state == "completed"
    assert results(supervisor, 1)[0].startswith("word, word, ")
    assert not agent.canceled.is_set()


async def test_an_answer_that_is_compressed_unasked_is_refused_since_it_may_unfold_to_any_size() -> None:
    bomb = gzip.compress(b" " * (60 * MIB))
    asked: list[str] = []

    async def packed(request: Any) -> StreamingResponse:
        asked.append(request.headers["accept-encoding"])

        async def pieces() -> Body:
            yield bomb

        headers = {"Content-Encoding": "gzip"}
        return StreamingResponse(pieces(), media_type="text/event-stream", headers=headers)

    supervisor = asking()
    async with (
        running(Starlette(routes=[Route("/packed", packed, methods=["POST"])])) as packing,
        hostile(sixty_megabytes) as agent,
    ):
        agent.url, real = f"{packing}/packed", agent.url
        allowed = {"SUB_AGENT_ORIGINS": packing}
        async with supervising({"flood": real}, supervisor, allowed) as url, connected(url) as client:
            await ask(client, "Dig")
    assert set(asked) == {"identity"}
    assert json.loads(results(supervisor, 1)[0])["error"] == "peer_limit_exceeded"


@pytest.mark.long
async def test_thousands_of_signs_of_progress_become_as_many_as_somebody_can_read() -> None:
    async def busy(agent: Hostile) -> Body:
        yield agent.event({"task": TASK})
        for number in range(4_000):
            yield agent.event(activity(number))
        yield agent.event(artifact("All is dug.", append=False))
        yield agent.event(status("COMPLETED"))

    supervisor = model([calls(call("flood", request="Dig")), "Done."])
    async with (
        hostile(busy) as agent,
        supervising({"flood": agent.url}, supervisor) as url,
        connected(url) as client,
    ):
        answer = await ask(client, "Dig")
    shown = [each for each in answer.metadata(ACTIVITY_EXTENSION) if each["kind"] == "delegation_progress"]
    assert results(supervisor, 1) == ["All is dug."]
    assert 50 <= len(shown) <= 1_000
    assert [each["activity"]["call_id"] for each in shown if "activity" in each][:2] == ["c0", "c1"]


@pytest.mark.long
async def test_a_card_without_an_end_is_not_read_and_the_supervisor_does_without_the_agent() -> None:
    sent, over = 0, asyncio.Event()

    async def endless(_request: Any) -> StreamingResponse:
        async def pieces() -> Body:
            nonlocal sent
            try:
                yield b'{"name": "'
                while True:
                    yield b"x" * 65_536
                    sent += 65_536
                    await asyncio.sleep(0)  # the server learns only then that nobody reads any more
            finally:
                over.set()

        return StreamingResponse(pieces(), media_type="application/json")

    app = Starlette(routes=[Route("/.well-known/agent-card.json", endless)])
    async with running(app) as flooding:
        environ = {"SUB_AGENTS": f"flood={flooding}", "SUB_AGENT_REFRESH_SECONDS": "60"}
        async with (
            running_agent(_supervisor(), environ=environ, model=model(["Hello."])) as url,
            connected(url) as client,
            httpx.AsyncClient(trust_env=False) as http,
        ):
            async with asyncio.timeout(60):
                await over.wait()
            first = sent
            assert (await ask(client, "hello")).text == "Hello."
            ready = await http.get(f"{url}/readyz")
    assert first < BUFFERS
    assert "flood" in ready.text


def _supervisor() -> Any:
    from multi_agents.platform_engineer.agent import PlatformEngineer

    return PlatformEngineer

"""What a server sends is bounded after it was unpacked, whoever asks it: a few kilobytes do not fill the memory."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import cache

import httpx
import pytest
from a2a.types.a2a_pb2 import TaskPushNotificationConfig
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from agents.github.client import GitHubClient
from agents.github.settings import GitHubSettings
from agents.rag.ingest.fetch import fetch_page
from agents.rag.settings import RagSettings
from utils.a2a_common.client.transport.connection import fetch_card, http_client
from utils.a2a_common.server.push.body import Notification
from utils.a2a_common.server.push.delivery import PushDelivery, PushPolicy
from utils.auth.discovery import fetched_json
from utils.auth.token_endpoint import post_form
from utils.llm import server_window as server_window_module
from utils.net.bounded import CHUNK, LARGEST_BODY, MIB, AnswerTooLarge, Bound
from utils.net.fetch import fetch_file
from utils.settings import LLMSettings
from utils.testing.live_server import running

UNPACKED = 256 * MIB
"""What the body becomes: a sixteenth of what a sender can make of as few bytes."""

MOST_MEMORY = 2 * LARGEST_BODY + 8 * MIB
"""A body at the limit, once in pieces and once whole, and what else a request needs."""


@cache
def packed(encoding: str) -> bytes:
    """Bytes that become `UNPACKED` ones: one mebibyte, packed so that it can be repeated, as often as it takes."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    piece = packer.compress(bytes(MIB)) + packer.flush(zlib.Z_FULL_FLUSH)
    bare = piece * (UNPACKED // MIB) + packer.flush()
    match encoding:
        case "deflate":
            return bare
        case "deflate, gzip":
            return gzip.compress(bare)
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    return b"".join([*(packer.compress(bytes(MIB)) for _ in range(UNPACKED // MIB)), packer.flush()])


@pytest.fixture(params=["gzip", "deflate", "deflate, gzip"])
async def server(request: pytest.FixtureRequest) -> AsyncIterator[str]:
    headers = {"content-type": "text/plain", "content-encoding": request.param}

    async def answer(_: Request) -> Response:
        return Response(packed(request.param), headers=headers)

    route = Route("/{path:path}", answer, methods=["GET", "POST"])
    packed(request.param)
    async with running(Starlette(routes=[route])) as url:
        yield url


@pytest.fixture
def memory() -> Iterator[Callable[[], int]]:
    """The most memory that was held since the test began."""
    tracemalloc.start()
    begun = tracemalloc.get_traced_memory()[0]
    yield lambda: tracemalloc.get_traced_memory()[1] - begun
    tracemalloc.stop()


async def a_file(url: str) -> object:
    return await fetch_file(url, most_bytes=MIB, seconds=60, allow_private=True)


async def a_document(url: str) -> object:
    return await fetch_page(url, RagSettings.load({"RAG_ALLOW_PRIVATE_URLS": "true"}))


async def keys(url: str) -> object:
    return await fetched_json(url)


async def a_token(url: str) -> object:
    return await post_form(url, {"grant_type": "client_credentials"}, seconds=60)


async def json_of_github(url: str) -> object:
    github = GitHubClient(GitHubSettings.load({"GITHUB_API_URL": url}))
    try:
        return await github.get("/repos/a/b", "repository a/b")
    finally:
        await github.stop()


async def a_card(url: str) -> object:
    async with http_client(url) as http:
        return await fetch_card(http, url)


def is_of_size(error: BaseException | None) -> bool:
    """Whether an error comes of the size of a body, or of how it was packed."""
    while error is not None and not isinstance(error, AnswerTooLarge | httpx.DecodingError):
        error = getattr(error, "exc", error.__cause__)
    return error is not None


ASKED: list[Callable[[str], Awaitable[object]]] = [
    a_file,
    a_document,
    keys,
    a_token,
    json_of_github,
    a_card,
]


@pytest.mark.parametrize("asked", ASKED, ids=lambda each: each.__name__)
async def test_a_small_body_that_unpacks_to_a_large_one_is_an_error_and_takes_little_memory(
    server, memory, asked
):
    with pytest.raises(Exception) as raised:  # each has its own type
        await asked(server)
    assert memory() < MOST_MEMORY
    assert is_of_size(raised.value)


@pytest.mark.parametrize(
    "asked", [a_file, a_document, keys, a_token, json_of_github], ids=lambda each: each.__name__
)
async def test_where_no_stream_is_awaited_one_of_small_events_is_bounded_as_any_other_body(memory, asked):
    event = b"data: " + b"x" * 30_000 + b"\n\n"
    async with running(stream_of(*[event] * (UNPACKED // len(event)))) as url:
        with pytest.raises(Exception) as raised:  # each has its own type
            await asked(url)
    assert memory() < MOST_MEMORY
    assert is_of_size(raised.value)


async def test_such_a_body_of_a_webhook_is_not_read(server, memory):
    delivery = PushDelivery(PushPolicy(attempts=1, allow_private=True))
    await delivery.deliver(TaskPushNotificationConfig(task_id="t", id="c", url=server), Notification(b"{}"))
    await delivery.aclose()
    assert memory() < MOST_MEMORY


async def test_a_model_server_that_sends_such_a_body_says_nothing_of_its_window(server, memory, monkeypatch):
    settings = LLMSettings.load(
        {"LLM_PROVIDER": "openai-compatible", "OPENAI_BASE_URL": f"{server}/v1", "LLM_MODEL": "m"}
    )
    monkeypatch.setattr(server_window_module, "ASK_SECONDS", 60)
    assert await server_window_module.server_window(settings) is None
    assert memory() < 4 * MOST_MEMORY  # it is asked four things at once


async def read(url: str, bound: Bound) -> bytes:
    async with httpx.AsyncClient(trust_env=False, event_hooks=bound.hooks()) as http:
        return (await http.get(url)).content


@pytest.mark.parametrize("encoding", ["", "gzip", "deflate", "identity", "utf-8"])
async def test_a_body_within_the_bound_arrives_as_it_was_sent(encoding):
    text = bytes(range(256)) * 4096
    packs = {"gzip": gzip.compress(text), "deflate": zlib.compress(text)}
    asked: list[str] = []

    async def answer(request: Request) -> Response:
        asked.append(request.headers["accept-encoding"])
        headers = {"content-encoding": encoding} if encoding else {}
        return Response(packs.get(encoding, text), headers=headers)

    async with running(Starlette(routes=[Route("/", answer)])) as url:
        assert await read(url, Bound(len(text))) == text
        with pytest.raises(AnswerTooLarge):
            await read(url, Bound(len(text) - 1))
    assert set(asked) == {"gzip, deflate"}


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
async def test_a_body_that_is_packed_as_nobody_asked_is_not_unpacked(encoding):
    async def answer(_: Request) -> Response:
        return Response(b"whatever", headers={"content-encoding": encoding})

    async with running(Starlette(routes=[Route("/", answer)])) as url:
        with pytest.raises(httpx.DecodingError):
            await read(url, Bound())


def stream_of(*pieces: bytes) -> Starlette:
    async def answer(_: Request) -> Response:
        async def body() -> AsyncIterator[bytes]:
            for piece in pieces:
                yield piece

        return StreamingResponse(body(), media_type="text/event-stream")

    return Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "POST"])])


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r"])
async def test_a_stream_may_be_longer_than_one_event_may(end):
    event = b"data: " + b"x" * 100
    pieces = [event, end[:1], end[1:]] * 1000
    async with running(stream_of(*pieces)) as url:
        assert await read(url, Bound(1, len(event + end))) == b"".join(pieces)
        with pytest.raises(AnswerTooLarge):
            await read(url, Bound(1, len(event) - 1))


async def test_an_event_that_never_ends_is_an_error(memory):
    async with running(stream_of(*[b"data: " + b"x" * CHUNK + b"\n"] * 1000)) as url:
        with pytest.raises(AnswerTooLarge, match="one event of more than 1,048,576 bytes"):
            await read(url, Bound(event=MIB))
    assert memory() < MOST_MEMORY

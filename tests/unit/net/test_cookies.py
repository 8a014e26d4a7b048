"""Whoever a server is called for next, it is not sent the cookie that it set in an answer to somebody else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from a2a.types.a2a_pb2 import TaskPushNotificationConfig
from starlette.types import Receive, Scope, Send

from agents.github.connection import Connection
from agents.github.settings import GitHubSettings
from agents.rag.ingest.fetch import fetch_page
from agents.rag.settings import RagSettings
from tests.unit.net.providers import ADDRESSES, EMBEDDERS, PROVIDERS
from utils.a2a_common.client.transport.connection import http_client
from utils.a2a_common.server.push.body import Notification
from utils.a2a_common.server.push.delivery import PushDelivery, PushPolicy
from utils.auth.discovery import fetched_json
from utils.auth.token_endpoint import post_form
from utils.embeddings import create_embedder
from utils.llm.factory import create_chat_model
from utils.mcp.transport import client_for
from utils.net.fetch import fetch_file
from utils.observability.export import span_exporter
from utils.observability.settings import TelemetrySettings
from utils.settings import EmbeddingSettings, LLMSettings

pytestmark = pytest.mark.listens

COOKIE = b"session=of-ann; Path=/; HttpOnly"


class Setter:
    """A server that sets a cookie with each answer, and notes the cookies that it gets; `/go` leads elsewhere."""

    def __init__(self, status: int = 200) -> None:
        self.cookies: list[str] = []
        self._status = status

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass
        headers = dict(scope["headers"])
        self.cookies.append(headers.get(b"cookie", b"").decode())
        leads = scope["path"] == "/go"
        told = [(b"set-cookie", COOKIE), (b"content-type", b"text/plain"), (b"connection", b"close")]
        if leads:
            told.append((b"location", b"/there"))
        start = {"type": "http.response.start", "status": 302 if leads else self._status, "headers": told}
        await send(start)
        await send({"type": "http.response.body", "body": b"{}"})


@asynccontextmanager
async def setting(status: int = 200) -> AsyncIterator[tuple[str, Setter]]:
    from utils.testing.live_server import running

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            for kind in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{kind}.complete"})
            return
        await setter(scope, receive, send)

    setter = Setter(status)
    async with running(app) as url:
        yield url, setter


async def agent(url: str) -> None:
    async with http_client(url) as http:
        for _ in range(2):
            await http.get(url)


async def webhook(url: str) -> None:
    delivery = PushDelivery(PushPolicy(allow_private=True))
    for owner in ("eve", "ann"):
        config = TaskPushNotificationConfig(id=owner, task_id="t", url=f"{url}/{owner}")
        assert await delivery.deliver(config, Notification(b"{}"), owner=owner) is None
    await delivery.aclose()


async def file(url: str) -> None:
    await fetch_file(f"{url}/go", most_bytes=100, seconds=10, allow_private=True)


async def page(url: str) -> None:
    await fetch_page(f"{url}/go", RagSettings.load({"RAG_ALLOW_PRIVATE_URLS": "true"}))


async def mcp(url: str) -> None:
    async with client_for(url, 1000)() as http:
        for _ in range(2):
            await http.get(url)


async def github(url: str) -> None:
    connection = Connection(GitHubSettings.load({"GITHUB_API_URL": url, "GITHUB_TOKEN": "t"}))
    for _ in range(2):
        await connection.arequest("GET", "/user")
    await connection.close()


async def provider(url: str) -> None:
    for _ in range(2):
        await fetched_json(url)
        await post_form(url, {"grant_type": "x"}, seconds=5)


async def collector(url: str) -> None:
    exporter = span_exporter(TelemetrySettings.load({"OTEL_EXPORTER_OTLP_ENDPOINT": url}))
    for _ in range(2):
        await asyncio.to_thread(exporter.export, [])


TALKS: list[Callable[[str], Awaitable[None]]] = [
    agent, webhook, file, page, mcp, github, provider, collector,
]  # fmt: skip


@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk.__name__)
async def test_no_client_sends_a_cookie_that_it_got(talk: Callable[[str], Awaitable[None]]) -> None:
    async with setting() as (url, setter):
        await talk(url)
    assert len(setter.cookies) >= 2
    assert set(setter.cookies) == {""}


@pytest.mark.parametrize("environ", PROVIDERS, ids=lambda each: each["LLM_PROVIDER"])
@pytest.mark.parametrize("elsewhere", [False, True])
async def test_no_client_of_a_model_sends_a_cookie_that_it_got(
    environ: dict[str, str], elsewhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with setting(400) as (url, setter):
        address = elsewhere_at(url, monkeypatch) if elsewhere else url
        addresses = dict.fromkeys(ADDRESSES, address)
        model = create_chat_model(LLMSettings.load({"LLM_MODEL": "m", **addresses, **environ}))
        for _ in range(2):
            with suppress(Exception):
                await model.ainvoke("Hello.")
    assert len(setter.cookies) == 2
    assert set(setter.cookies) == {""}


@pytest.mark.parametrize("environ", EMBEDDERS, ids=lambda each: each["EMBEDDINGS_PROVIDER"])
async def test_no_client_of_embeddings_sends_a_cookie_that_it_got(environ: dict[str, str]) -> None:
    async with setting(400) as (url, setter):
        addresses = dict.fromkeys(ADDRESSES, url)
        embedder = create_embedder(EmbeddingSettings.load({**addresses, **environ}), cache=None)
        assert embedder is not None
        for text in ("Hello.", "Hello again."):
            with suppress(Exception):
                await embedder.embed([text])
    assert len(setter.cookies) == 2
    assert set(setter.cookies) == {""}


def elsewhere_at(url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a server under a name that is not known to be this machine's: other clients are made for those."""
    import socket

    real = socket.getaddrinfo

    def known(host: Any, *more: Any, **named: Any) -> Any:
        return real("127.0.0.1" if host in ("models.example", b"models.example") else host, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", known)
    return url.replace("127.0.0.1", "models.example")

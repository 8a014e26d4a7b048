"""A server that sends a request on to another origin does not get our key there, nor what we say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from agents.github.connection import Connection
from agents.github.settings import GitHubSettings
from tests.unit.net.providers import ADDRESSES, EMBEDDERS, PROVIDERS
from utils.embeddings import create_embedder
from utils.errors import InvalidRequest
from utils.llm.classify import classify
from utils.llm.factory import create_chat_model
from utils.llm.provider_client import CROSS_ORIGIN_REDIRECT
from utils.net.web_client import is_cross_origin
from utils.observability.export import span_exporter
from utils.observability.settings import TelemetrySettings
from utils.settings import EmbeddingSettings, LLMSettings
from utils.testing.live_server import running

pytestmark = pytest.mark.listens

METHODS = ["GET", "POST"]
CLOSE = {"connection": "close"}


class Place:
    """Notes the headers of each request, and sends it on to another place where one is given."""

    def __init__(self, leads_to: str = "") -> None:
        self.headers: list[dict[str, str]] = []
        self._leads_to = leads_to

    async def take(self, request: Request) -> Response:
        await request.body()
        self.headers.append(dict(request.headers))
        if self._leads_to:
            return RedirectResponse(self._leads_to + request.url.path, 307, headers=CLOSE)
        return Response("{}", 400, media_type="application/json", headers=CLOSE)

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/{path:path}", self.take, methods=METHODS)])


@asynccontextmanager
async def leading_away() -> AsyncIterator[tuple[str, Place]]:
    """The address of a server that leads elsewhere, and where it leads."""
    there = Place()
    async with running(there.app()) as elsewhere, running(Place(elsewhere).app()) as url:
        yield url, there


async def collector(url: str) -> None:
    told = {"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_EXPORTER_OTLP_HEADERS": "x-api-key=secret"}
    await asyncio.to_thread(span_exporter(TelemetrySettings.load(told)).export, [])


def embeddings(environ: dict[str, str]) -> Callable[[str], Awaitable[None]]:
    async def ask(url: str) -> None:
        addresses = dict.fromkeys(ADDRESSES, url)
        embedder = create_embedder(EmbeddingSettings.load({**addresses, **environ}), cache=None)
        assert embedder is not None
        with pytest.raises(InvalidRequest):
            await embedder.embed(["Hello."])

    return ask


@pytest.mark.parametrize("talk", [collector, *map(embeddings, EMBEDDERS)])
async def test_neither_spans_nor_texts_go_where_a_server_leads(
    talk: Callable[[str], Awaitable[None]],
) -> None:
    async with leading_away() as (url, there):
        await talk(url)
    assert there.headers == []


@pytest.mark.parametrize("environ", PROVIDERS, ids=lambda each: each["LLM_PROVIDER"])
async def test_a_conversation_does_not_go_where_the_server_of_a_model_leads(environ: dict[str, str]) -> None:
    async with leading_away() as (url, there):
        addresses = dict.fromkeys(ADDRESSES, url)
        model = create_chat_model(LLMSettings.load({"LLM_MODEL": "m", **addresses, **environ}))
        with pytest.raises(Exception) as raised:
            await model.ainvoke("Hello.")
    assert there.headers == []
    failure = classify(raised.value)
    assert isinstance(failure, InvalidRequest)
    assert str(failure) == CROSS_ORIGIN_REDIRECT


async def test_a_token_of_github_does_not_go_where_github_leads() -> None:
    async with leading_away() as (url, there):
        connection = Connection(GitHubSettings.load({"GITHUB_API_URL": url, "GITHUB_TOKEN": "t"}))
        with suppress(Exception):
            await connection.arequest("GET", "/repos/o/r/actions/jobs/1/logs")
        await connection.close()
    (headers,) = there.headers
    assert "authorization" not in headers


@pytest.mark.parametrize(
    ("sent", "location", "away"),
    [
        ("http://a.example/v1", "/v2", False),
        ("http://a.example/v1", "http://a.example:80/v2", False),
        ("http://a.example/v1", "https://a.example/v1", False),
        ("https://a.example/v1", "//a.example/v1", False),
        ("https://a.example/v1", "http://a.example/v1", True),
        ("http://a.example:8080/v1", "https://a.example/v1", True),
        ("https://a.example/v1", "https://b.example/v1", True),
        ("https://a.example/v1", "//b.example/v1", True),
        ("https://a.example/v1", "https://a.example@b.example/v1", True),
        ("https://a.example/v1", "https://[bad", True),
    ],
)
def test_a_redirect_stays_at_its_origin_or_leads_away(sent: str, location: str, away: bool) -> None:
    assert is_cross_origin(sent, location) == away

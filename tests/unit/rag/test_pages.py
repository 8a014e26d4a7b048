"""Pages are fetched from a real server, within limits, and from public addresses only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from agents.rag.index.embedded import EmbeddedIndex
from agents.rag.index.store import Store
from agents.rag.ingest.fetch import fetch_page
from agents.rag.ingest.ingester import Ingester
from agents.rag.settings import RagSettings
from tests.unit.rag.pdf_bytes import pdf
from utils.errors import IngestFailed
from utils.net.url_guard import checked_target
from utils.testing.live_server import running

pytestmark = pytest.mark.listens

ALLOWED = RagSettings(allow_private_urls=True, max_url_bytes=5_000, url_timeout_seconds=60)
PAGE = "<title>Handbook</title><main><h1>Handbook</h1><h2 id=pay>Pay</h2><p>Monthly: Größe.</p></main>"


class Site:
    """Pages whose content a test may change."""

    def __init__(self) -> None:
        self.page: Response = Response(PAGE.encode("latin-1"), media_type="text/html; charset=latin-1")
        self.hosts: list[str] = []

    async def serve(self, request: Request) -> Response:
        self.hosts.append(request.headers["host"])
        match request.path_params["name"]:
            case "page":
                return self.page
            case "manual.pdf":
                return Response(pdf(["Push the button"]), media_type="application/pdf")
            case "guide.md":
                return PlainTextResponse("# Guide\n\nText.")
            case "image":
                return Response(b"\x89PNG", media_type="image/png")
            case "loop":
                return RedirectResponse("/loop")
            case "moved":
                return RedirectResponse("page")
            case "away":
                return RedirectResponse("file:///etc/passwd")
            case "lengthy":
                return StreamingResponse(lengthy(), media_type="text/plain")
            case "slow":
                await asyncio.Event().wait()
        return PlainTextResponse("no", status_code=int(request.path_params["name"]))


async def lengthy() -> AsyncIterator[bytes]:
    for _ in range(100):
        yield b"x" * 1000
        await asyncio.sleep(0)


@pytest.fixture
async def site() -> AsyncIterator[tuple[Site, str]]:
    site = Site()
    async with running(Starlette(routes=[Route("/{name}", site.serve)])) as url:
        yield site, url


async def test_a_page_is_ingested_under_its_address_and_removed_when_it_is_gone(
    site: tuple[Site, str], store: Store
) -> None:
    ingester = Ingester(EmbeddedIndex(store.path), ALLOWED, None)
    pages, url = site
    assert (await ingester.ingest([f"{url}/page#pay"])).added == 1
    assert (await ingester.ingest([f"{url}/page"])).unchanged == 1
    stored = store.documents()[0]
    assert (stored.source, stored.title) == (f"{url}/page", "Handbook")
    pages.page = PlainTextResponse("down", status_code=503)
    assert "status 503" in (await ingester.ingest([f"{url}/page"])).problems[0]
    assert len(store.documents()) == 1
    pages.page = PlainTextResponse("gone", status_code=410)
    assert (await ingester.ingest([f"{url}/page"])).removed == 1
    assert store.documents() == []


async def test_the_declared_encoding_and_type_are_respected(site: tuple[Site, str], store: Store) -> None:
    _, url = site
    await Ingester(EmbeddedIndex(store.path), ALLOWED, None).ingest(
        [f"{url}/{name}" for name in ("page", "manual.pdf", "guide.md")]
    )
    assert [d.title for d in store.documents()] == ["Guide", "manual", "Handbook"]
    from agents.rag.index.read import find_text

    found = find_text(store.path, f"{url}/page#pay")
    assert found is not None
    assert found.text == "Monthly: Größe."


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("image", "is of type image/png, which cannot be read"),
        ("loop", "redirects more than 5 times"),
        ("away", "is not an http or https address"),
        ("lengthy", "is larger than 5,000 bytes"),
        ("404", "is gone"),
        ("500", "status 500"),
    ],
)
async def test_what_is_no_page_is_refused_with_the_reason(
    site: tuple[Site, str], name: str, reason: str
) -> None:
    with pytest.raises(IngestFailed, match=reason):
        await fetch_page(f"{site[1]}/{name}", ALLOWED)


async def test_a_page_that_does_not_come_is_given_up(site: tuple[Site, str]) -> None:
    settings = RagSettings(allow_private_urls=True, url_timeout_seconds=0.2)
    with pytest.raises(IngestFailed, match=r"did not answer within 0\.2 seconds"):
        await fetch_page(f"{site[1]}/slow", settings)


async def test_a_redirect_is_followed_and_the_server_sees_its_own_name(site: tuple[Site, str]) -> None:
    pages, url = site
    page = await fetch_page(url.replace("127.0.0.1", "localhost") + "/moved", ALLOWED)
    assert b"Handbook" in page.data
    assert all(host.startswith("localhost:") for host in pages.hosts)


async def test_a_server_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(IngestFailed, match="could not be fetched"):
        await fetch_page("http://127.0.0.1:9/", ALLOWED)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[2002:7f00:1::]/",
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://0.0.0.0/",
        "http://0x7f000001/",
        "http://2130706433/",
        "http://100.64.0.1/",
        "http://224.0.0.1/",
        "http://[64:ff9b::7f00:1]/",
        "http://[64:ff9b::a9fe:a9fe]/",
    ],
)
async def test_private_addresses_are_refused(url: str) -> None:
    with pytest.raises(IngestFailed, match="private address"):
        await fetch_page(url, RagSettings())


async def test_a_private_page_is_refused_by_default_and_never_asked_for(
    site: tuple[Site, str], store: Store
) -> None:
    pages, url = site
    summary = await Ingester(EmbeddedIndex(store.path), RagSettings(), None).ingest([f"{url}/page"])
    assert "RAG_ALLOW_PRIVATE_URLS=true" in summary.problems[0]
    assert pages.hosts == []


@pytest.mark.parametrize(
    "url", ["ftp://example.com/x", "file:///etc/passwd", "http://", "http://x:99999/", "http://[bad"]
)
async def test_other_schemes_and_broken_addresses_are_refused(url: str) -> None:
    with pytest.raises(IngestFailed):
        await fetch_page(url, ALLOWED)


@pytest.mark.parametrize("address", ["93.184.216.34", "[2606:2800:220:1::1]", "[64:ff9b::5db8:d822]"])
async def test_public_addresses_are_allowed(address: str) -> None:
    assert (await checked_target(f"https://{address}/x", allow_private=False)).name == address.strip("[]")


async def test_an_address_with_a_password_is_refused_before_anything_is_asked(site: tuple[Site, str]) -> None:
    pages, url = site
    with pytest.raises(IngestFailed, match="carries a user name or password"):
        await fetch_page(url.replace("http://", "http://bob:secret@") + "/page", ALLOWED)
    assert pages.hosts == []

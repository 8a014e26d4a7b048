"""Fetches a page within limits of size and time, following redirects that pass the same checks."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.rag.ingest.load import is_readable_type, media_type_of
from agents.rag.settings import RagSettings
from utils.errors import IngestFailed
from utils.net.pinned import MOST_REDIRECTS, TooManyRedirects, pinned
from utils.net.url_guard import ForbiddenUrl, UrlFault

if TYPE_CHECKING:
    import httpx

_ACCEPTED = "text/html, text/*, application/pdf"
_AGENT = "platform-engineer-rag"
_GONE = (404, 410)
_FAULTS = {
    UrlFault.TOO_LONG: "is too long for an address",
    UrlFault.MALFORMED: "is not a valid address",
    UrlFault.SCHEME: "is not an http or https address",
    UrlFault.NO_HOST: "has no host name",
    UrlFault.CREDENTIALS: "carries a user name or password; give an address without them",
    UrlFault.UNRESOLVED: "has a host name that does not resolve",
    UrlFault.PRIVATE: "is at a private address; set RAG_ALLOW_PRIVATE_URLS=true to allow it",
}


class PageGone(IngestFailed):
    """The server says that there is no such page."""


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched page. `media_type` is lower case and without parameters."""

    data: bytes
    media_type: str
    charset: str | None


async def fetch_page(url: str, settings: RagSettings) -> Page:
    """The page at `url`.

    Raises:
        PageGone: The server answered 404 or 410.
        IngestFailed: It may not or could not be fetched; the message completes "URL …".
    """
    import httpx

    from utils.net.bounded import AnswerTooLarge

    try:
        client = _client(settings)
        at_end = pinned(client, url, allow_private=settings.allow_private_urls, accept=_ACCEPTED)
        async with asyncio.timeout(settings.url_timeout_seconds), client, at_end as (response, address):
            return await _read(response, address)
    except ForbiddenUrl as error:
        raise IngestFailed(_FAULTS[error.fault]) from error
    except TooManyRedirects as error:
        raise IngestFailed(f"redirects more than {MOST_REDIRECTS} times") from error
    except TimeoutError as error:
        raise IngestFailed(f"did not answer within {settings.url_timeout_seconds:g} seconds") from error
    except AnswerTooLarge as error:
        raise IngestFailed(f"is larger than {settings.max_url_bytes:,} bytes") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise IngestFailed("could not be fetched") from error


def _client(settings: RagSettings) -> httpx.AsyncClient:
    from utils.net.bounded import Bound
    from utils.net.web_client import client_for_checked

    return client_for_checked(
        Bound(settings.max_url_bytes),
        seconds=settings.url_timeout_seconds,
        headers={"User-Agent": _AGENT},
    )


async def _read(response: httpx.Response, url: str) -> Page:
    if response.status_code in _GONE:
        raise PageGone(f"is gone (status {response.status_code})")
    if response.status_code != 200:  # noqa: PLR2004 - the one status with a page
        raise IngestFailed(f"was refused by the server (status {response.status_code})")
    media_type = _media_type(response, url)
    return Page(await response.aread(), media_type, response.charset_encoding)


def _media_type(response: httpx.Response, url: str) -> str:
    declared: str = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    by_name = media_type_of(url.partition("?")[0])
    if declared in ("", "text/plain", "application/octet-stream"):
        declared = by_name or declared or "text/plain"
    if not is_readable_type(declared):
        raise IngestFailed(f"is of type {declared}, which cannot be read")
    return declared

"""Fetches from an untrusted URL: each address of a chain of redirects is checked, and the request goes to the checked address."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from utils.net.url_guard import checked_target

if TYPE_CHECKING:
    import httpx

MOST_REDIRECTS = 5


class TooManyRedirects(Exception):
    """The chain of redirects is longer than `MOST_REDIRECTS`."""


@asynccontextmanager
async def pinned(
    client: httpx.AsyncClient, url: str, *, allow_private: bool, accept: str = "*/*"
) -> AsyncIterator[tuple[httpx.Response, str]]:
    """The response at the end of the redirects, with its body unread, and its URL. It is closed at the end of the block.

    The request goes to the address that was checked, with the host's name in the `Host` header and for TLS: resolving the name a
    second time might give another address.

    Args:
        client: From `client_for_checked`.
        url: The address.
        allow_private: Whether loopback and private addresses may be called.
        accept: The `Accept` header.

    Raises:
        ForbiddenUrl: An address of the chain may not be called.
        TooManyRedirects: The chain is too long.
        httpx.HTTPError: The server cannot be reached.
    """
    for _ in range(MOST_REDIRECTS + 1):
        target = await checked_target(url, allow_private=allow_private)
        request = client.build_request(
            "GET",
            target.url,
            headers={"Host": target.host, "Accept": accept},
            extensions={"sni_hostname": target.name},
        )
        response = await client.send(request, stream=True)
        try:
            if not response.has_redirect_location:
                yield response, url
                return
            url = urljoin(url, response.headers["location"])
        finally:
            await response.aclose()
    raise TooManyRedirects

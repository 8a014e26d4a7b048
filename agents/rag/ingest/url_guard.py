"""Which addresses a page may be fetched from: http(s), and public ones only unless allowed otherwise."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from utils.a2a_common.url_guard import is_public
from utils.errors import IngestFailed


@dataclass(frozen=True, slots=True)
class Destination:
    """A checked URL and the one address that it is fetched from, so that a second look-up cannot differ."""

    url: str
    host: str
    address: str


async def check_url(url: str, *, allow_private: bool) -> Destination:
    """Resolve and check.

    Raises:
        IngestFailed: Not http(s), no such host, or an address that is not public.
    """
    parts, host, port = _parse(url)
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise IngestFailed("has a host name that does not resolve") from error
    addresses = [str(entry[4][0]) for entry in found]
    if not allow_private and not all(is_public(address) for address in addresses):
        raise IngestFailed("is at a private address; set RAG_ALLOW_PRIVATE_URLS=true to allow it")
    return Destination(parts.geturl(), host, addresses[0])


def _parse(url: str) -> tuple[SplitResult, str, int]:
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise IngestFailed("is not a valid address") from error
    if parts.scheme not in ("http", "https"):
        raise IngestFailed("is not an http or https address")
    if not parts.hostname:
        raise IngestFailed("has no host name")
    return parts, parts.hostname, port

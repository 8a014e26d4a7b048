"""SSRF guard: checks an untrusted URL before this process calls it.

The host is resolved once and the request goes to the address that was checked: a second look-up could
return another one (DNS rebinding). A redirect is a new URL and has to be checked again.
"""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass
from enum import StrEnum

import httpx
import structlog

from utils.net.special_addresses import is_public

log = structlog.get_logger(__name__)

RESOLVE_SECONDS = 5.0
"""Longest wait for a name server."""

MAX_URL_CHARACTERS = 2048
"""What common servers and browsers accept."""


class UrlFault(StrEnum):
    """Why a URL is refused; the value is for programs and the log."""

    TOO_LONG = "too_long"
    MALFORMED = "malformed"
    SCHEME = "scheme"
    NO_HOST = "no_host"
    CREDENTIALS = "credentials"
    UNRESOLVED = "unresolved"
    PRIVATE = "private"

    @property
    def sentence(self) -> str:
        """A sentence for the sender of the URL. It does not reveal whether a name exists that only the internal network resolves."""
        return _SENTENCES.get(self, "The URL's host is not known, or has an address that is not public.")


_SENTENCES = {
    UrlFault.TOO_LONG: f"The URL is longer than {MAX_URL_CHARACTERS} characters.",
    UrlFault.MALFORMED: "The URL is malformed.",
    UrlFault.SCHEME: "The URL must begin with https:// or http://.",
    UrlFault.NO_HOST: "The URL has no host.",
    UrlFault.CREDENTIALS: "The URL must not carry credentials; use the authentication field.",
}


class ForbiddenUrl(Exception):
    """The URL must not be called. The message is the sentence of its fault."""

    def __init__(self, fault: UrlFault) -> None:
        super().__init__(fault.sentence)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class CheckedTarget:
    """A checked destination.

    Attributes:
        url: The URL with its host replaced by the address that was checked.
        host: The `Host` header to send.
        name: The host's name, for TLS.
    """

    url: httpx.URL
    host: str
    name: str


def check_form(url: str) -> None:
    """Refuse what is not an HTTP URL, without a DNS look-up.

    Raises:
        ForbiddenUrl: Length, scheme, credentials or host are not acceptable.
    """
    _parsed(url)


async def checked_target(url: str, *, allow_private: bool) -> CheckedTarget:
    """Resolve `url` and refuse what is not a public HTTP address.

    Args:
        url: Given by a client.
        allow_private: Accept loopback and private addresses too.

    Raises:
        ForbiddenUrl: Scheme, credentials, host or address are not acceptable.
    """
    parsed = _parsed(url)
    addresses = await _resolve(parsed.host, parsed.port or (443 if parsed.scheme == "https" else 80))
    if not addresses or not (allow_private or all(map(is_public, addresses))):
        fault = UrlFault.PRIVATE if addresses else UrlFault.UNRESOLVED
        log.info("url.refused", reason=fault.value)  # the caller does not learn which of the two
        raise ForbiddenUrl(fault)
    host = parsed.netloc.decode("ascii")
    return CheckedTarget(url=parsed.copy_with(host=addresses[0]), host=host, name=parsed.host)


def _parsed(url: str) -> httpx.URL:
    if len(url) > MAX_URL_CHARACTERS:
        raise ForbiddenUrl(UrlFault.TOO_LONG)
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError, UnicodeError):
        raise ForbiddenUrl(UrlFault.MALFORMED) from None
    if parsed.scheme not in {"http", "https"}:
        raise ForbiddenUrl(UrlFault.SCHEME)
    if not parsed.host:
        raise ForbiddenUrl(UrlFault.NO_HOST)
    if parsed.userinfo:
        raise ForbiddenUrl(UrlFault.CREDENTIALS)
    return parsed


async def _resolve(host: str, port: int) -> list[str]:
    """The addresses of a host; none if it cannot be resolved."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, TimeoutError):
        return []
    return [str(entry[4][0]) for entry in found]

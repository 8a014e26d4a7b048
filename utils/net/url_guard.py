"""SSRF guard: checks a URL that somebody else chose before this process calls it.

The host is resolved once and the request goes to the address that was checked: a second look-up could
return another one (DNS rebinding). A redirect is a new URL and has to be checked again.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from dataclasses import dataclass
from enum import StrEnum

import httpx

RESOLVE_SECONDS = 5.0
"""Longest wait for a name server."""

MAX_URL_CHARACTERS = 2048
"""What common servers and browsers accept."""


class UrlFault(StrEnum):
    """Why a URL is refused; the value is a sentence for whoever gave the URL."""

    TOO_LONG = f"The URL is longer than {MAX_URL_CHARACTERS} characters."
    MALFORMED = "The URL is malformed."
    SCHEME = "The URL must begin with https:// or http://."
    NO_HOST = "The URL has no host."
    CREDENTIALS = "The URL must not carry credentials; use the authentication field."
    UNRESOLVED = "The URL's host cannot be resolved."
    PRIVATE = "The URL's host has an address that is not public."


class ForbiddenUrl(Exception):
    """The URL must not be called. The message is the sentence of its fault."""

    def __init__(self, fault: UrlFault) -> None:
        super().__init__(fault.value)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Target:
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
    """Refuse what is no HTTP address, without asking a name server.

    Raises:
        ForbiddenUrl: Length, scheme, credentials or host are not acceptable.
    """
    _parsed(url)


async def checked_target(url: str, *, allow_private: bool) -> Target:
    """Resolve `url` and refuse what is not a public HTTP address.

    Args:
        url: Given by a client.
        allow_private: Accept loopback and private addresses too.

    Raises:
        ForbiddenUrl: Scheme, credentials, host or address are not acceptable.
    """
    parsed = _parsed(url)
    addresses = await _resolve(parsed.host, parsed.port or (443 if parsed.scheme == "https" else 80))
    if not allow_private:
        for address in addresses:
            if not is_public(address):
                raise ForbiddenUrl(UrlFault.PRIVATE)
    host = parsed.netloc.decode("ascii")
    return Target(url=parsed.copy_with(host=addresses[0]), host=host, name=parsed.host)


def is_public(address: str) -> bool:
    """Whether an IP address is reachable by everyone; an IPv4 address inside an IPv6 one counts itself."""
    ip = ipaddress.ip_address(address.split("%", maxsplit=1)[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is not None:
            return is_public(str(inner))
        if ip in _NAT64:
            return is_public(str(ipaddress.IPv4Address(int(ip) & 0xFFFF_FFFF)))
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


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
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, TimeoutError):
        raise ForbiddenUrl(UrlFault.UNRESOLVED) from None
    return [str(entry[4][0]) for entry in found]

"""Which addresses a client may make us call: public ones, and the very address that was checked.

A webhook's host is resolved once; the request goes to that address and not to what the name means
a moment later. Redirects are not followed (see `push.py`).
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from dataclasses import dataclass

import httpx

RESOLVE_SECONDS = 5.0
"""Longest wait for a name server."""

MAX_URL_CHARACTERS = 2048
"""What common servers and browsers accept."""


class ForbiddenUrl(Exception):
    """The URL must not be called. The message is a sentence for the one who gave it."""


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
                raise ForbiddenUrl("The URL's host has an address that is not public.")
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
        raise ForbiddenUrl(f"The URL is longer than {MAX_URL_CHARACTERS} characters.")
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError, UnicodeError):
        raise ForbiddenUrl("The URL is malformed.") from None
    if parsed.scheme not in {"http", "https"}:
        raise ForbiddenUrl("The URL must begin with https:// or http://.")
    if not parsed.host:
        raise ForbiddenUrl("The URL has no host.")
    if parsed.userinfo:
        raise ForbiddenUrl("The URL must not carry credentials; use the authentication field.")
    return parsed


async def _resolve(host: str, port: int) -> list[str]:
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, TimeoutError):
        raise ForbiddenUrl("The URL's host cannot be resolved.") from None
    return [str(entry[4][0]) for entry in found]

"""Reads the metadata and other documents of an OpenID provider: over https, bounded in size and time."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from utils.net.loopback import is_loopback

FETCH_SECONDS = 5.0
"""Longest wait for one response."""

_LARGEST = 262_144
_OK = 200

Fetch = Callable[[str], Awaitable[Any]]


class Unavailable(Exception):
    """The provider cannot be reached, or does not respond as specified."""


async def configuration_of(issuer: str, fetch: Fetch) -> Mapping[str, Any]:
    """The provider's metadata.

    Raises:
        Unavailable: There is none, or it names another issuer.
    """
    found = await fetch(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    if not isinstance(found, Mapping) or found.get("issuer") != issuer:
        raise Unavailable
    return found


def may_be_read(address: str, issuer: str) -> bool:
    """Whether an address of the provider may be used: it is https, or both it and the provider are on this machine."""
    if urlsplit(address).scheme == "https":
        return True
    return is_loopback(address) and is_loopback(issuer)


async def fetched_json(address: str) -> Any:
    """The JSON at an address, without redirects and up to a size.

    Raises:
        Unavailable: There is none.
    """
    import httpx

    from utils.net.bounded import Bound
    from utils.net.web_client import web_client

    trusts = not is_loopback(address)
    client = web_client(Bound(_LARGEST), timeout=FETCH_SECONDS, trust_env=trusts)
    try:
        async with client as http:
            response = await http.get(address, headers={"Accept-Encoding": "identity"})
        if response.status_code != _OK:
            raise Unavailable
        return json.loads(response.content)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError) as error:
        raise Unavailable from error

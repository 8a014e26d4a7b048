"""The one door to HTTP clients: each takes a bounded answer, keeps no cookie and follows no redirect by itself.

A client is shared, by all who are served here or by all webhooks of one address. A cookie that came with one answer would go along
with the request for somebody else, and open that one's session at a server which knows its callers by cookies.
"""

from __future__ import annotations

from collections.abc import Sequence
from http.cookiejar import CookieJar, CookiePolicy
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from utils.net.bounded import Bound

_PORTS = {"http": 80, "https": 443}


class _Unread(CookiePolicy):
    """Reads no `Set-Cookie` header of any kind."""

    netscape = rfc2965 = hide_cookie2 = False


def forget_cookies(jar: CookieJar) -> None:
    """Let the jar of a client of httpx, httpx2 or requests that another package made stay empty."""
    jar.clear()
    jar.set_policy(_Unread())


def leads_away(sent: str, location: str) -> bool:
    """Whether a redirect leads to another origin than that of the request; https at the same host is none.

    Args:
        sent: The address of the request.
        location: The `Location` of the answer.
    """
    try:
        old, new = urlsplit(sent), urlsplit(urljoin(sent, location))
        ports = (old.port or _PORTS.get(old.scheme), new.port or _PORTS.get(new.scheme))
    except ValueError:
        return True
    schemes = (old.scheme, new.scheme)
    same = schemes[0] == schemes[1] and ports[0] == ports[1]
    safer = schemes == ("http", "https") and ports == (80, 443)
    return old.hostname != new.hostname or not (same or safer)


def web_client(
    bound: Bound,
    *,
    request: Sequence[Any] = (),
    response: Sequence[Any] = (),
    kind: type[httpx.AsyncClient] = httpx.AsyncClient,
    **options: Any,
) -> httpx.AsyncClient:
    """A client for one server, which may serve many people.

    Args:
        bound: What is taken from the server.
        request: Hooks of each request, before those of the bound.
        response: Hooks of each response, before those of the bound.
        kind: Its class.
        options: Further arguments of the class.
    """
    hooks = bound.hooks(request=[*request], response=[*response])
    return kind(cookies=CookieJar(_Unread()), follow_redirects=False, event_hooks=hooks, **options)


def client_for_checked(bound: Bound, *, seconds: float, **options: Any) -> httpx.AsyncClient:
    """A client for addresses that somebody else chose and `checked_target` has checked.

    No proxy of the environment resolves their names again. No connection is used twice: a pool knows it by its address, and TLS has
    proved one name of those that are served there.

    Args:
        bound: What is taken from a server.
        seconds: Longest wait for each part of an answer.
        options: Further arguments of the client.
    """
    limits = httpx.Limits(max_keepalive_connections=0)
    return web_client(bound, trust_env=False, timeout=seconds, limits=limits, **options)

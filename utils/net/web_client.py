"""Creates all HTTP clients: each limits the size of responses, keeps no cookies and does not follow redirects.

A client is shared by all users, or by all webhooks of one address. A cookie that was set for one user would be sent with the request
of another, who would then use the first one's session at a server with cookie sessions.
"""

from __future__ import annotations

from collections.abc import Sequence
from http.cookiejar import CookieJar, CookiePolicy
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from utils.net.bounded import Bound

_PORTS = {"http": 80, "https": 443}


class _NoCookies(CookiePolicy):
    """Reads no `Set-Cookie` header of any kind."""

    netscape = rfc2965 = hide_cookie2 = False


def disable_cookies(jar: CookieJar) -> None:
    """Keep the cookie jar of a client of httpx, httpx2 or requests empty, for clients that another package created."""
    jar.clear()
    jar.set_policy(_NoCookies())


def is_cross_origin(sent: str, location: str) -> bool:
    """Whether a redirect leads to another origin than that of the request. An upgrade to https at the same host does not count.

    Args:
        sent: The URL of the request.
        location: The `Location` header of the response.
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
    """A client for one server, which several users may share.

    Args:
        bound: Limits of its responses.
        request: Hooks of each request, before those of the bound.
        response: Hooks of each response, before those of the bound.
        kind: The class of the client.
        options: Further arguments of the class.
    """
    hooks = bound.hooks(request=[*request], response=[*response])
    return kind(cookies=CookieJar(_NoCookies()), follow_redirects=False, event_hooks=hooks, **options)


def client_for_checked(bound: Bound, *, seconds: float, **options: Any) -> httpx.AsyncClient:
    """A client for untrusted URLs that `checked_target` has checked.

    Proxies of the environment are not used, since they would resolve the names again. No connection is used twice: a pool would
    find it by its address, while TLS has verified only one of the names that are served there.

    Args:
        bound: Limits of the responses.
        seconds: Longest wait for each part of a response.
        options: Further arguments of the client.
    """
    limits = httpx.Limits(max_keepalive_connections=0)
    return web_client(bound, trust_env=False, timeout=seconds, limits=limits, **options)

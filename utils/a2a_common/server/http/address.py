"""`AddressGuard`: reads what a request is addressed to. Refuses those that a web page made a browser send.

`/path/` is `/path`: no redirect, which would lose a POST's body in many clients.

A server on loopback without authentication is open to every page that the user visits: the page's
name is made to resolve to 127.0.0.1 (DNS rebinding), or it posts across origins. Both show in the
`Host` and `Origin` headers.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from utils.a2a_common.server.http.answers import local_path, refusal

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
PROBES = frozenset({"/healthz", "/readyz"})
"""Allowed with any `Host`: an orchestrator calls them by address."""

METRICS = "/metrics"
"""Open to any address as `Host`, since scrapers ask by address. Rebinding needs a name: names are checked."""


class AddressGuard:
    """Accepts loopback names, the public URL's host and the allowed hosts; `*` accepts every host.

    The application behind sees the path without trailing slashes, down to the root's own.
    """

    def __init__(self, app: ASGIApp, *, public_url: str | None, allowed_hosts: str) -> None:
        self._app = app
        names = [name.strip().lower() for name in allowed_hosts.split(",") if name.strip()]
        self._any = "*" in names
        self._names = frozenset([*LOOPBACK, *_public(public_url), *names])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on or refuse it."""
        if scope["type"] == "http" and scope["path"].endswith("/"):
            stripped = local_path(scope).rstrip("/") or "/"
            scope = {**scope, "path": scope.get("root_path", "") + stripped}
        if scope["type"] == "http" and not self._any and local_path(scope) not in PROBES:
            headers = Headers(scope=scope)
            host = _host(headers.get("host", ""))
            scraped = local_path(scope) == METRICS and _is_address(host)
            if not scraped and not self._knows(host):
                answer = refusal(scope, 421, "This server does not answer for that host. See ALLOWED_HOSTS.")
                return await answer(scope, receive, send)
            origin = headers.get("origin")
            if origin is not None and not self._knows(_host(origin.partition("://")[2])):
                answer = refusal(scope, 403, "Requests from that origin are not accepted. See ALLOWED_HOSTS.")
                return await answer(scope, receive, send)
        await self._app(scope, receive, send)
        return None

    def _knows(self, name: str) -> bool:
        return name in self._names or name.endswith(".localhost")


def _public(url: str | None) -> Iterable[str]:
    name = urlsplit(url).hostname if url else None
    return [name] if name else []


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _host(header: str) -> str:
    """The name in a `Host` header, without its port; empty when it is malformed."""
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""

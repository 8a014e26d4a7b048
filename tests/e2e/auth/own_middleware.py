"""Agents with HTTP middleware of their own, each of which also runs as a process."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.authentication import AuthCredentials, AuthenticationBackend, SimpleUser
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.e2e.agents.peers import Keys


class Stamp:
    """Adds a header to each answer, and asks nobody who calls."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def stamped(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["x-house"] = "ours"
            await send(message)

        await self._app(scope, receive, stamped)


class ByName(AuthenticationBackend):
    """Believes the name in a header."""

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, SimpleUser] | None:
        name = conn.headers.get("x-checked-user")
        return (AuthCredentials(["authenticated"]), SimpleUser(name)) if name else None


class Stamped(Keys):
    """An agent whose middleware only adds a header."""

    name = "stamped"

    def http_middleware(self) -> Sequence[Middleware]:
        return [Middleware(Stamp)]


class Private(Keys):
    """An agent that knows its callers by a middleware of its own."""

    name = "private"

    def http_middleware(self) -> Sequence[Middleware]:
        return [Middleware(Stamp), Middleware(AuthenticationMiddleware, backend=ByName())]

"""Lists the active ones of the requested extensions in each response."""

from __future__ import annotations

from a2a.types.a2a_pb2 import AgentCard
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from utils.a2a_common.server.call_context import EXTENSION_HEADERS, active_extensions


class ActiveExtensions:
    """Adds the header `A2A-Extensions` to responses whose request had it: the requested extensions that the card declares.

    Clients of protocol 0.3 send `X-A2A-Extensions`, and are answered in that.

    Args:
        card: What the agent offers.
    """

    def __init__(self, app: ASGIApp, card: AgentCard) -> None:
        self._app = app
        self._card = card

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        requested = Headers(scope=scope)
        named = {name: active_extensions(requested.getlist(name), self._card) for name in EXTENSION_HEADERS}
        active = {name: value for name, value in named.items() if value}

        async def naming(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=list(message["headers"]))
                headers.update(active)
                message = {**message, "headers": headers.raw}
            await send(message)

        await self._app(scope, receive, naming if active else send)

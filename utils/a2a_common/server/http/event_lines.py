"""Writes the rarer line separators of Unicode in streams as escapes of JSON."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from utils.net import sse

_ESCAPES = {char.encode(): ascii(char)[1:-1].replace("\\x", "\\u00").encode() for char in "\x85\u2028\u2029"}
"""Characters at which `str.splitlines` splits and that JSON does not escape by itself."""


class EventLines:
    """Keeps each event of a stream on one line for every reader.

    A server-sent event ends at a line feed or carriage return alone. The client of the A2A SDK, and each that reads lines
    with httpx, also cuts it at U+0085, U+2028 and U+2029, which stand in texts that people paste, and fails there. The
    payload is JSON, where an escape is equivalent.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        streams = False

        async def escaped(message: Message) -> None:
            nonlocal streams
            if message["type"] == "http.response.start":
                streams = Headers(raw=message["headers"]).get("content-type", "").startswith(sse.MEDIA_TYPE)
            elif streams and message["type"] == "http.response.body":
                message = {**message, "body": _escaped(message.get("body", b""))}
            await send(message)

        await self._app(scope, receive, escaped if scope["type"] == "http" else send)


def _escaped(body: bytes) -> bytes:
    for char, escape in _ESCAPES.items():
        body = body.replace(char, escape)
    return body

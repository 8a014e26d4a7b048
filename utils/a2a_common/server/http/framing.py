"""`FramingGuard`: refuses a request that declares its length in two ways.

A proxy that uses `Content-Length` takes what the server takes for a part of the body for the next request, of whichever client it sends
that over the same connection for (RFC 9112, section 6.1). So the connection ends with the answer.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from utils.a2a_common.server.http.answers import refusal

TWO_LENGTHS = "Send Content-Length or Transfer-Encoding, not both."


class FramingGuard:
    """Answers 400 to a request with `Content-Length` and `Transfer-Encoding`, whatever its method, and closes the connection."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on or refuse it."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            if "content-length" in headers and "transfer-encoding" in headers:
                answer = refusal(scope, 400, TWO_LENGTHS)
                answer.headers["Connection"] = "close"
                return await answer(scope, receive, send)
        await self._app(scope, receive, send)
        return None

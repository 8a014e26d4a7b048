"""Refuses a request whose JSON body would fail inside the SDK, before anything reads it."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from utils.a2a_common.protocol.json_body import BadJson, parse
from utils.a2a_common.server.http.answers import refusal
from utils.a2a_common.server.http.replay import after

PARSED = "a2a.json"
"""Key of the parsed body in the scope."""


class JsonBody:
    """Refuses bodies that would fail inside: not UTF-8, not JSON, too deep, too many values, huge integers, bad base64."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, with its parsed body in the scope, or refuse it."""
        if scope["type"] != "http" or scope["method"] in {"GET", "HEAD", "OPTIONS"}:
            return await self._app(scope, receive, send)
        first = await receive()
        body = first.get("body", b"")
        try:
            if body:
                scope[PARSED] = parse(body)
        except BadJson as error:
            answer = refusal(scope, 400, str(error), rpc_code=error.code)
            return await answer(scope, receive, send)
        return await self._app(scope, after(first, receive), send)

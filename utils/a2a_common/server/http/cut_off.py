"""`CutOff`: answers the requests that the server gives up when it stops."""

from __future__ import annotations

import asyncio

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from utils.a2a_common.server.http.answers import refusal

log = structlog.get_logger(__name__)

CUT_OFF = "The agent stopped before it had answered. Send the same message again: what it began goes on."
"""The sentence of such an answer. A message that is sent again under its id is not worked on twice."""


class CutOff:
    """Answers 503 with `Retry-After` where a request is cancelled before its response began.

    The server cancels what is open when its grace has passed, and would answer in plain text.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except asyncio.CancelledError:
            if begun:
                raise
            log.info("server.cut_off")
            response = refusal(scope, 503, CUT_OFF)
            response.headers["Retry-After"] = "1"
            await response(scope, receive, send)

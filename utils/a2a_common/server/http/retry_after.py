"""Adds `Retry-After` to responses: of a request that was refused for now, and of one that the server abandons as it stops."""

from __future__ import annotations

import asyncio

import structlog
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from utils.a2a_common.protocol.retry_later import PerhapsTakenError, RetryLaterError, noting_refusals
from utils.a2a_common.server.http.answers import refusal

log = structlog.get_logger(__name__)

CUT_OFF = "The agent stopped before it had answered. Send the same message again: what it began goes on."
"""The sentence of such an answer. A message that is sent again under its id is not worked on twice."""


class RetryAfter:
    """Answers 503 or 429 with `Retry-After` if the request handler refused a request for now, and 504 if it may have taken it.

    The body stays that of the binding. A response waits for its first piece, since only that shows whether a stream was
    refused.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        held: list[Message] = []
        with noting_refusals() as refused:

            async def answer(message: Message) -> None:
                if message["type"] == "http.response.start":
                    held.append(message)
                    return
                for start in held:
                    await send(_refused(start, refused[0]) if refused else start)
                held.clear()
                await send(message)

            await self._app(scope, receive, answer)


def _refused(start: Message, error: RetryLaterError | PerhapsTakenError) -> Message:
    headers = MutableHeaders(raw=list(start["headers"]))
    if isinstance(error, RetryLaterError):
        headers["Retry-After"] = str(error.retry_after)
    return {**start, "status": error.status, "headers": headers.raw}


class CutOff:
    """Answers 503 with `Retry-After` if a request is cancelled before its response began.

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

"""Reads a request's body once, up to a limit."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from utils.a2a_common.server.http.answers import refusal
from utils.a2a_common.server.http.replay import after

BODY_SECONDS = 30.0
"""Longest wait for a whole body: a client that trickles bytes holds memory."""


class TooLarge(Exception):
    """The body is over the limit."""


class BodyLimit:
    """Answers 413 before a large body is parsed, and 408 when it does not arrive.

    What is inside sees the body as one message.
    """

    def __init__(self, app: ASGIApp, *, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its body read, or refuse it."""
        if scope["type"] != "http" or scope["method"] in {"GET", "HEAD", "OPTIONS"}:
            return await self._app(scope, receive, send)
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await self._read(scope, receive)
        except TooLarge:
            sentence = f"The request is larger than {self._limit} bytes."
            return await refusal(scope, 413, sentence)(scope, receive, send)
        except TimeoutError:
            return await refusal(scope, 408, "The request's body did not arrive.")(scope, receive, send)
        if body is None:
            return None
        return await self._app(
            scope, after({"type": "http.request", "body": body, "more_body": False}, receive), send
        )

    async def _read(self, scope: Scope, receive: Receive) -> bytes | None:
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdecimal() and int(declared[:20]) > self._limit:
            raise TooLarge
        chunks: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            chunk = message.get("body", b"")
            size += len(chunk)
            if size > self._limit:
                raise TooLarge
            chunks.append(chunk)
            if not message.get("more_body", False):
                return b"".join(chunks)

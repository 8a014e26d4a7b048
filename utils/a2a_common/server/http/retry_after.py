"""`RetryAfter`: gives the response of a request that is refused for now its status and its header."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from utils.a2a_common.protocol.retry_later import RetryLaterError, noting_refusals


class RetryAfter:
    """Answers 503, or 429, with `Retry-After` where the request handler refused a request for now.

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


def _refused(start: Message, error: RetryLaterError) -> Message:
    headers = MutableHeaders(raw=list(start["headers"]))
    headers["Retry-After"] = str(error.retry_after)
    return {**start, "status": error.status, "headers": headers.raw}

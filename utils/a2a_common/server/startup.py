"""Ends the server with the reason when the application cannot start, instead of a traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utils.errors import PlatformError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_FAILED = "lifespan.startup.failed"
_COMPLETE = "lifespan.startup.complete"


class Startup:
    """Forwards everything to `app`, and records why its start failed.

    Attributes:
        complete: Whether the application has started; a server that exits after that could not listen.
        failure: The reason, if it may be shown; the server does not see it and exits.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.complete = False
        self.failure: PlatformError | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, or the life of the application."""
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return
        failed: Message | None = None

        async def forward(message: Message) -> None:
            nonlocal failed
            self.complete = self.complete or message["type"] == _COMPLETE
            if message["type"] == _FAILED:
                failed = message
            else:
                await send(message)

        try:
            await self._app(scope, receive, forward)
        except PlatformError as error:
            self.failure = error
            if failed is not None:
                await send({"type": _FAILED, "message": ""})
            raise
        except BaseException:
            if failed is not None:
                await send(failed)
            raise

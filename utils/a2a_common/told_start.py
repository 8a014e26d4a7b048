"""An application whose start fails with a sentence and not with a traceback."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from utils.errors import PlatformError


class ToldStart:
    """Passes everything on; keeps the error of ours that ended the start, so that whoever serves can tell it.

    Starlette hands the traceback of a failed start to the server as its message, and the server logs that.

    Attributes:
        error: Why the application did not start, once it has not.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.error: PlatformError | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, or the application's life."""
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return
        failed: list[Message] = []

        async def keep_failure(message: Message) -> None:
            if message["type"] == "lifespan.startup.failed":
                failed.append(message)
            else:
                await send(message)

        try:
            await self._app(scope, receive, keep_failure)
        except PlatformError as error:
            if not failed:
                raise
            self.error = error
            failed[:] = [{"type": "lifespan.startup.failed", "message": ""}]
        finally:
            for message in failed:
                await send(message)

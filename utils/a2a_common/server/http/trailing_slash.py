"""`/path/` is `/path`: no redirect, which would lose a POST's body in many clients."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from utils.a2a_common.server.http.answers import local_path


class TrailingSlash:
    """Takes trailing slashes off the path, down to the root's own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] == "http" and scope["path"].endswith("/"):
            stripped = local_path(scope).rstrip("/") or "/"
            scope = {**scope, "path": scope.get("root_path", "") + stripped}
        await self._app(scope, receive, send)

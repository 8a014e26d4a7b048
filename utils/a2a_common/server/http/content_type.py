"""Accepts JSON bodies only."""

from __future__ import annotations

from email.message import EmailMessage

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from utils.a2a_common.server.http.answers import refusal
from utils.a2a_common.server.http.replay import after


class JsonOnly:
    """Answers 415 to a body that is not declared as JSON in UTF-8.

    It is a guard as well: a page of another origin may post `text/plain` without asking, but not JSON.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on or refuse it."""
        if scope["type"] != "http" or scope["method"] in {"GET", "HEAD", "OPTIONS"}:
            return await self._app(scope, receive, send)
        first = await receive()
        if first.get("body") and not _is_json(Headers(scope=scope).get("content-type", "")):
            answer = refusal(scope, 415, "Send Content-Type: application/json.")
            return await answer(scope, receive, send)
        return await self._app(scope, after(first, receive), send)


def _is_json(header: str) -> bool:
    if header == "application/json":
        return True
    parsed = EmailMessage()
    parsed["Content-Type"] = header.replace("\n", "").replace("\r", "")
    kind = parsed.get_content_type()
    charset = str(parsed.get_param("charset", "utf-8")).lower()
    return (kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))) and (
        charset in {"utf-8", "utf8", "us-ascii"}
    )

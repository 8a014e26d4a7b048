"""An HTTP client for MCP that answers a request which failed with an error of JSON-RPC, so that its session goes on.

The client of MCP ends the whole session, and every call of it, with the first response that is an error, and keeps the status to itself.
"""

from __future__ import annotations

import json
from typing import Any

import httpx

from utils.mcp.http_failure import NOT_FOUND, HttpFailure, as_error, failed_with

_UNSENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
)
_SESSION = "mcp-session-id"
_WHOLE = "application/json"
_MESSAGES = (_WHOLE, "text/event-stream")
_OK, _ACCEPTED, _REFUSED = 200, 202, 400


class McpHttpClient(httpx.AsyncClient):
    """Sends messages of MCP. A failure is told as the answer to its request; nobody waits for that of a notification."""

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request, and make an answer of a failure."""
        if request.method != "POST":
            return await super().send(request, **options)
        try:
            response = await super().send(request, **options)
            usable = _is_usable(request, response)
            if usable and _type_of(response).startswith(_WHOLE):
                await response.aread()
        except httpx.TransportError as error:
            late = isinstance(error, httpx.ReadTimeout)
            return _answer(request, HttpFailure(sent=not isinstance(error, _UNSENT), late=late))
        if usable:
            return response
        await response.aclose()
        return _answer(request, failed_with(response.status_code, response.headers))


def _is_usable(request: httpx.Request, response: httpx.Response) -> bool:
    """Whether the client of MCP knows what to do: a message, a redirect, or a session that has ended."""
    if response.status_code == NOT_FOUND:
        return _SESSION in request.headers
    if response.status_code == _OK and _id_of(request) is not None:
        return _type_of(response).startswith(_MESSAGES)
    return response.status_code < _REFUSED


def _type_of(response: httpx.Response) -> str:
    return str(response.headers.get("content-type", "")).lower()


def _answer(request: httpx.Request, failure: HttpFailure) -> httpx.Response:
    number = _id_of(request)
    if number is None:
        return httpx.Response(_ACCEPTED, request=request)
    answer = {"jsonrpc": "2.0", "id": number, "error": as_error(failure)}
    return httpx.Response(_OK, json=answer, request=request)


def _id_of(request: httpx.Request) -> int | str | None:
    """The id of a message that is a request; `None` for a notification and for an answer."""
    message = json.loads(request.content)
    found: int | str | None = message.get("id") if "method" in message else None
    return found

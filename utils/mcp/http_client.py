"""An HTTP client for MCP that answers a request which failed with an error of JSON-RPC, so that its session goes on.

The client of MCP ends the whole session, and every call of it, with the first response that is an error, and keeps the status to itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx
from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCResponse
from pydantic import ValidationError

from utils.mcp.event_stream import answered
from utils.mcp.http_failure import ACCEPTED, NOT_FOUND, HttpFailure, as_answer, failed_with, undecoded
from utils.net import sse
from utils.net.bounded import AnswerTooLarge
from utils.net.unsent import never_sent

_SESSION = "mcp-session-id"
_WHOLE = "application/json"
_OK = 200


class McpHttpClient(httpx.AsyncClient):
    """Sends messages of MCP. A failure is told as the answer to its request; nobody waits for that of a notification."""

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request, and make an answer of a failure."""
        if request.method != "POST":
            return await super().send(request, **options)
        number = _id_of(request)
        try:
            response = await self._followed(request, options)
            failure = await _failure_of(number, response)
        except AnswerTooLarge as error:
            return _answer(request, number, HttpFailure(largest=error.most))
        except httpx.RequestError as error:
            late = isinstance(error, httpx.ReadTimeout)
            return _answer(request, number, HttpFailure(sent=not never_sent(error), late=late))
        if failure is None:
            if number is None or not _type_of(response).startswith(sse.MEDIA_TYPE):
                return response
            return answered(response, number)
        await response.aclose()
        return _answer(request, number, failure)

    async def _followed(self, request: httpx.Request, options: Mapping[str, Any]) -> httpx.Response:
        """The response to a message; where the server has moved it within its origin, the one from there."""
        response = await super().send(request, **options)
        for _ in range(self.max_redirects):
            following = response.next_request
            if following is None or not _is_same(request, following):
                break
            await response.aclose()
            response = await super().send(following, **options)
        return response


def _is_same(sent: httpx.Request, following: httpx.Request) -> bool:
    """Whether a redirect takes the message along, and takes it and its credentials nowhere else."""
    old, new = sent.url, following.url
    safer = (old.scheme, old.port, new.scheme, new.port) == ("http", None, "https", None)
    origin = old.host == new.host and (safer or (old.scheme, old.port) == (new.scheme, new.port))
    return origin and following.method == sent.method and new.userinfo in {b"", old.userinfo}


async def _failure_of(number: int | str | None, response: httpx.Response) -> HttpFailure | None:
    """Why the client of MCP cannot go on with a response; it can with a message, or when its session has ended."""
    if response.status_code == NOT_FOUND and _SESSION in response.request.headers:
        return None
    failure = failed_with(response.status_code, response.headers)
    if number is None or not response.is_success:
        return None if response.is_success else failure
    kind = _type_of(response)
    if response.status_code == ACCEPTED or not kind.startswith((_WHOLE, sse.MEDIA_TYPE)):
        return failure
    if not kind.startswith(_WHOLE):
        return None
    try:
        return None if _is_answer(number, await response.aread()) else failure
    except httpx.DecodingError:
        return undecoded(response.status_code, response.headers)


def _type_of(response: httpx.Response) -> str:
    return str(response.headers.get("content-type", "")).lower()


def _is_answer(number: int | str, content: bytes) -> bool:
    """Whether it is what a request waits for; the client of MCP drops anything else, and waits on."""
    try:
        message = JSONRPCMessage.model_validate_json(content).root
    except ValidationError:
        return False
    return isinstance(message, JSONRPCResponse | JSONRPCError) and str(message.id) == str(number)


def _answer(request: httpx.Request, number: int | str | None, failure: HttpFailure) -> httpx.Response:
    if number is None:
        return httpx.Response(ACCEPTED, request=request)
    return httpx.Response(_OK, json=as_answer(number, failure), request=request)


def _id_of(request: httpx.Request) -> int | str | None:
    """The id of a message that is a request; `None` for a notification and for an answer."""
    message = json.loads(request.content)
    found: int | str | None = message.get("id") if "method" in message else None
    return found

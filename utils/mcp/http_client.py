"""An HTTP client for MCP that turns a failed request into a JSON-RPC error, so that the session continues.

The client of MCP ends the session, and every call in it, at the first HTTP error, and does not report the status.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import httpx
from mcp.types import JSONRPCError, JSONRPCResponse

from utils.mcp.event_stream import Awaited, headers_of, with_certain_response
from utils.mcp.http_failure import ACCEPTED, NOT_FOUND, HttpFailure, as_response, failed_with, undecoded
from utils.mcp.json_text import message_of
from utils.messages.characters import repaired_json
from utils.net import sse
from utils.net.bounded import AnswerTooLarge
from utils.net.unsent import never_sent

_SESSION = "mcp-session-id"
_JSON = "application/json"
_OK = 200
STREAMS_AT_ONCE = 20
STREAM_SECONDS = 0.5
"""How often event streams may be opened: so many at once, then one in so many seconds."""
LEAST_SECONDS = 35.0
"""How long a response is read at least, however short the time limit of the tools is: a session may take nearly as long to start."""


class McpHttpClient(httpx.AsyncClient):
    """Sends messages of MCP. A failed request gets a JSON-RPC error response; failures of notifications are ignored.

    The client of MCP opens an event stream again whenever its server closes it, after the milliseconds that the server's `retry:` names. With 0 of
    them it would do nothing else, so streams that are opened too often wait here. It also continues with the stream of a call that has timed out, so
    no stream of a request is read longer than the time limit of a response.
    """

    _stream_due = -math.inf

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._awaited: WeakKeyDictionary[asyncio.Task[Any], Awaited] = WeakKeyDictionary()
        """The request of each task of the client of MCP: the task that sends a request also continues its stream."""

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request, and convert a failure to an error response."""
        if request.method == "GET":
            return await self._send_for_stream(request, options)
        if request.method != "POST":
            return await super().send(request, **options)
        number = _id_of(request)
        awaited = None if number is None else self._note_awaited(number)
        try:
            response = await self._send_following(request, options)
            failure = await _failure_of(number, response)
        except AnswerTooLarge as error:
            return _error_response(request, number, HttpFailure(largest=error.most))
        except httpx.RequestError as error:
            late = isinstance(error, httpx.ReadTimeout)
            return _error_response(request, number, HttpFailure(sent=not never_sent(error), late=late))
        if failure is None:
            if awaited is None:
                return response
            if _is_stream(response):
                return with_certain_response(response, awaited)
            return _with_repaired(response) if response.is_stream_consumed else response
        await response.aclose()
        return _error_response(request, number, failure)

    def _note_awaited(self, number: int | str) -> Awaited:
        read, now = self.timeout.read, asyncio.get_running_loop().time()
        awaited = Awaited(number, None if read is None else now + max(read, LEAST_SECONDS))
        if (task := asyncio.current_task()) is not None:
            self._awaited[task] = awaited
        return awaited

    async def _send_for_stream(self, request: httpx.Request, options: Mapping[str, Any]) -> httpx.Response:
        """The response with a stream of events, as long as one is awaited if it continues that of a request.

        Raises:
            httpx.ReadTimeout: The response to the request is no longer awaited.
        """
        task, now = asyncio.current_task(), asyncio.get_running_loop().time()
        awaited = None if task is None else self._awaited.get(task)
        if awaited is not None and awaited.due is not None and now >= awaited.due:
            raise httpx.ReadTimeout("The response is no longer awaited.", request=request)
        await self._pace()
        response = await super().send(request, **options)
        if awaited is None or not (response.is_success and _is_stream(response)):
            return response
        return with_certain_response(response, awaited, resumes=True)

    async def _pace(self) -> None:
        """Wait until another event stream may be opened."""
        now = asyncio.get_running_loop().time()
        earliest = now - STREAMS_AT_ONCE * STREAM_SECONDS
        self._stream_due = max(self._stream_due, earliest) + STREAM_SECONDS
        await asyncio.sleep(max(0.0, self._stream_due - now))

    async def _send_following(self, request: httpx.Request, options: Mapping[str, Any]) -> httpx.Response:
        """The response to a message, after redirects within the server's origin."""
        response = await super().send(request, **options)
        for _ in range(self.max_redirects):
            following = response.next_request
            if following is None or not _is_same(request, following):
                break
            await response.aclose()
            response = await super().send(following, **options)
        return response


def _is_same(sent: httpx.Request, following: httpx.Request) -> bool:
    """Whether a redirect keeps the method, and sends the message and its credentials to no other origin."""
    old, new = sent.url, following.url
    safer = (old.scheme, old.port, new.scheme, new.port) == ("http", None, "https", None)
    origin = old.host == new.host and (safer or (old.scheme, old.port) == (new.scheme, new.port))
    return origin and following.method == sent.method and new.userinfo in {b"", old.userinfo}


async def _failure_of(number: int | str | None, response: httpx.Response) -> HttpFailure | None:
    """Why the client of MCP cannot process a response; `None` if it is a message, or says that the session has ended."""
    if response.status_code == NOT_FOUND and _SESSION in response.request.headers:
        return None
    failure = failed_with(response.status_code, response.headers)
    if number is None or not response.is_success:
        return None if response.is_success else failure
    kind = _type_of(response)
    if response.status_code == ACCEPTED or not kind.startswith((_JSON, sse.MEDIA_TYPE)):
        return failure
    if not kind.startswith(_JSON):
        return None
    try:
        return None if _is_response(number, await response.aread()) else failure
    except httpx.DecodingError:
        return undecoded(response.status_code, response.headers)


def _type_of(response: httpx.Response) -> str:
    return str(response.headers.get("content-type", "")).lower()


def _is_stream(response: httpx.Response) -> bool:
    return _type_of(response).startswith(sse.MEDIA_TYPE)


def _with_repaired(response: httpx.Response) -> httpx.Response:
    """The response, whose body was read, with a body that is text."""
    return httpx.Response(
        response.status_code,
        headers=headers_of(response),
        content=repaired_json(response.content),
        request=response.request,
    )


def _is_response(number: int | str, content: bytes) -> bool:
    """Whether it is the response to a request; the client of MCP ignores anything else, and waits on."""
    try:
        message = message_of(content).root
    except ValueError:
        return False
    return isinstance(message, JSONRPCResponse | JSONRPCError) and str(message.id) == str(number)


def _error_response(request: httpx.Request, number: int | str | None, failure: HttpFailure) -> httpx.Response:
    if number is None:
        return httpx.Response(ACCEPTED, request=request)
    return httpx.Response(_OK, json=as_response(number, failure), request=request)


def _id_of(request: httpx.Request) -> int | str | None:
    """The ID of a message that is a request; `None` for notifications and responses."""
    message = json.loads(request.content)
    found: int | str | None = message.get("id") if "method" in message else None
    return found

"""`RequestGuard`: reads each request's body once and refuses what the SDK behind it could not answer well."""

from __future__ import annotations

import asyncio
import re
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from utils.a2a_common.protocol.json_body import BadJson, parse
from utils.a2a_common.protocol.rpc_codes import INVALID_JSON
from utils.a2a_common.server.http.answers import is_json_rpc, local_path, refusal
from utils.a2a_common.server.http.body_rules import (
    Complaint,
    list_query_complaint,
    media_type_complaint,
    rest_complaint,
    rpc_complaint,
)

_LIST_PATH = re.compile(r"/rest(?:/[^/]+)?/tasks")
_WITHOUT_BODY = {"GET", "HEAD", "OPTIONS"}


class RequestGuard:
    """Answers 413 before a large body is parsed, 408 when it does not arrive, 415 when it is not JSON, and 400 when
    its JSON would fail inside the SDK. The application behind receives the body as one message.

    Args:
        app: What is guarded.
        limit: Bytes of the largest body.
        seconds: Longest wait for a whole body: a client that trickles bytes holds memory.
    """

    def __init__(self, app: ASGIApp, *, limit: int, seconds: float = 30.0) -> None:
        self._app = app
        self._limit = limit
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on or refuse it."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        if scope["method"] in _WITHOUT_BODY:
            complaint = _query_complaint(scope)
            if complaint is None:
                return await self._app(scope, receive, send)
            return await _refuse(complaint, scope, receive, send)
        body = await self._read(scope, receive)
        if body is None:
            return None
        complaint = body if isinstance(body, Complaint) else _body_complaint(scope, body)
        if complaint is not None:
            return await _refuse(complaint, scope, receive, send)
        assert isinstance(body, bytes)
        return await self._app(scope, _replay(body, receive), send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes | Complaint | None:
        """The whole body, or why there is none; `None` when the client is gone."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._read_within_limit(scope, receive)
        except TimeoutError:
            return Complaint(408, "The request's body did not arrive.")

    async def _read_within_limit(self, scope: Scope, receive: Receive) -> bytes | Complaint | None:
        too_large = Complaint(413, f"The request is larger than {self._limit} bytes.")
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdecimal() and int(declared[:20]) > self._limit:
            return too_large
        chunks: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            chunk = message.get("body", b"")
            size += len(chunk)
            if size > self._limit:
                return too_large
            chunks.append(chunk)
            if not message.get("more_body", False):
                return b"".join(chunks)


def _query_complaint(scope: Scope) -> Complaint | None:
    if scope["method"] != "GET" or not _LIST_PATH.fullmatch(local_path(scope)):
        return None
    return list_query_complaint(scope.get("query_string", b"").decode("latin-1"))


def _body_complaint(scope: Scope, body: bytes) -> Complaint | None:
    if not body and is_json_rpc(scope):
        return Complaint(400, "The body is empty: send a JSON-RPC request.", INVALID_JSON)
    if not body:
        return None
    headers = Headers(scope=scope)
    complaint = media_type_complaint(headers.get("content-type", ""))
    if complaint is not None:
        return complaint
    try:
        value = parse(body)
    except BadJson as error:
        return Complaint(400, str(error), error.code)
    if is_json_rpc(scope):
        return rpc_complaint(value, headers.get("a2a-version", ""))
    return rest_complaint(value)


async def _refuse(complaint: Complaint, scope: Scope, receive: Receive, send: Send) -> None:
    answer = refusal(
        scope, complaint.status, complaint.message, rpc_code=complaint.rpc_code, rpc_id=complaint.rpc_id
    )
    if complaint.status == HTTPStatus.REQUEST_TIMEOUT:
        answer.headers["Connection"] = "close"  # what still comes is no request
    await answer(scope, receive, send)


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body, and then what the client sends."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed

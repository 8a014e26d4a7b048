"""`RequestGuard`: reads each request's body once and refuses what the SDK behind it could not answer well."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Any
from urllib.parse import parse_qs

from a2a.compat.v0_3.jsonrpc_adapter import JSONRPC03Adapter
from a2a.types.a2a_pb2 import TaskState
from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from utils.a2a_common.protocol.json_body import BadJson, parse
from utils.a2a_common.protocol.rpc_codes import (
    INVALID_JSON,
    INVALID_PARAMS,
    INVALID_REQUEST,
    SERVER_REFUSED,
    VERSION_NOT_SUPPORTED,
)
from utils.a2a_common.server.http.answers import (
    is_json_rpc,
    is_rpc_id,
    local_path,
    note_rpc_id,
    refusal,
)
from utils.observability import catalogue
from utils.observability.metrics import count

_LIST_PATH = re.compile(r"/rest(?:/[^/]+)?/tasks")
_WITHOUT_BODY = {"GET", "HEAD", "OPTIONS"}
_BAD_STATUS = "status is not a task state, such as TASK_STATE_WORKING."

_PLAIN = ("", "identity")

_MEMBERS = frozenset({"jsonrpc", "id", "method", "params"})

_SHOWN = 3
"""Problems that are named in one answer about a request of protocol 0.3."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """Why a request is refused.

    Attributes:
        status: HTTP status.
        message: One sentence for the client.
        rpc_code: JSON-RPC error code.
        headers: Further headers of the response.
    """

    status: int
    message: str
    rpc_code: int = SERVER_REFUSED
    headers: Mapping[str, str] = field(default_factory=dict)


class RequestGuard:
    """Answers 413 before a large body is parsed, 408 when it does not arrive, 415 when it is not JSON, and 400 when
    its JSON would fail inside the SDK. The application behind receives the body as one message.

    Args:
        app: The guarded application.
        limit: Bytes of the largest body.
        seconds: Longest wait for a complete body: a slow client holds memory.
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
        """The complete body, or why there is none; `None` when the client is gone."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._read_within_limit(scope, receive)
        except TimeoutError:
            count(catalogue.REFUSALS, reason="body_late")
            # later bytes are not a request
            return Complaint(408, "The request's body did not arrive.", headers={"Connection": "close"})

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
    return _list_query_complaint(scope.get("query_string", b"").decode("latin-1"))


def _body_complaint(scope: Scope, body: bytes) -> Complaint | None:
    if not body and is_json_rpc(scope):
        return Complaint(400, "The body is empty: send a JSON-RPC request.", INVALID_JSON)
    if not body:
        return None
    headers = Headers(scope=scope)
    complaint = _media_type_complaint(headers.get("content-type", "")) or _coding_complaint(headers)
    if complaint is not None:
        return complaint
    try:
        value = parse(body)
    except BadJson as error:
        return Complaint(400, str(error), error.code)
    if is_json_rpc(scope):
        note_rpc_id(scope, value)
        return _rpc_complaint(value, headers.get("a2a-version", ""))
    return _rest_complaint(value)


async def _refuse(complaint: Complaint, scope: Scope, receive: Receive, send: Send) -> None:
    answer = refusal(scope, complaint.status, complaint.message, rpc_code=complaint.rpc_code)
    answer.headers.update(complaint.headers)
    await answer(scope, receive, send)


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body, and then what the client sends."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed


def _media_type_complaint(content_type: str) -> Complaint | None:
    """A body must be declared as JSON in UTF-8.

    This is a guard against cross-origin requests as well: without asking first, a page of another origin may post
    `text/plain`, but not JSON.
    """
    if content_type == "application/json":
        return None
    parsed = EmailMessage()
    parsed["Content-Type"] = content_type.replace("\n", "").replace("\r", "")
    kind, charset = parsed.get_content_type(), str(parsed.get_param("charset", "utf-8")).lower()
    is_json = kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))
    if is_json and charset in {"utf-8", "utf8", "us-ascii"}:
        return None
    return Complaint(415, "Send Content-Type: application/json.")


def _coding_complaint(headers: Headers) -> Complaint | None:
    """Refuse a compressed body, because its size is known only after unpacking; the answer names the accepted encoding (RFC 7694)."""
    if headers.get("content-encoding", "").strip().lower() in _PLAIN:
        return None
    message = "Send the body as it is: no Content-Encoding is taken."
    return Complaint(415, message, headers={"Accept-Encoding": "identity"})


def _rpc_complaint(body: Any, version: str) -> Complaint | None:
    """A JSON-RPC request is an object of the members of JSON-RPC, with an id, parameters in an object, and an existing status for ListTasks.

    A JSON-RPC notification has no answer, and without its answer a client would not know the id of its task. An unknown
    status would list all tasks.
    """
    if isinstance(body, list):
        return _bad("Send one request as an object: batches are not supported.", INVALID_REQUEST)
    if not isinstance(body, dict):
        return _bad("A JSON-RPC request is an object.", INVALID_REQUEST)
    if message := _envelope_complaint(body):
        return _bad(message, INVALID_REQUEST)
    if "params" in body and not isinstance(body["params"], dict):
        return _bad("params must be an object.", INVALID_PARAMS)
    legacy = _legacy_complaint(body, version)
    if legacy is not None:
        return _bad(legacy[1], legacy[0])
    status = body.get("params", {}).get("status")
    if body.get("method") == "ListTasks" and status is not None and not _is_state(str(status)):
        return _bad(_BAD_STATUS, INVALID_PARAMS)
    return None


def _envelope_complaint(body: dict[str, Any]) -> str:
    """What is wrong with the members of a JSON-RPC request besides its parameters; empty if nothing is."""
    if body.get("jsonrpc") != "2.0":
        return 'The member "jsonrpc" must be "2.0".'
    method = body.get("method")
    if not isinstance(method, str) or not method or method.startswith("rpc."):  # which JSON-RPC reserves
        return 'The member "method" must name an operation, such as SendMessage.'
    if "id" not in body:
        return "Give the request an id: every operation has an answer."
    if body["id"] is not None and not is_rpc_id(body["id"]):
        return 'The member "id" must be a string or an integer.'
    if body.keys() - _MEMBERS:
        return "A JSON-RPC request has no members but jsonrpc, id, method and params."
    return ""


def _legacy_complaint(body: dict[str, Any], version: str) -> tuple[int, str] | None:
    """Code and sentence for a request of protocol 0.3 that cannot be served; `None` for any other.

    It is validated before the SDK does, whose errors quote its validator.

    Args:
        body: The JSON-RPC request.
        version: The `A2A-Version` that was sent, empty when none was.
    """
    method = body.get("method")
    model: Any = JSONRPC03Adapter.METHOD_TO_MODEL.get(method) if isinstance(method, str) else None
    if model is None:
        return None
    if version and not version.startswith("0.3"):
        return (
            VERSION_NOT_SUPPORTED,
            f"{method} is a method of A2A 0.3. Send A2A-Version: 0.3 or the 1.0 method.",
        )
    try:
        model.model_validate(body)
    except ValidationError as error:
        places = [
            ".".join(str(step) for step in problem["loc"])[:100]
            for problem in error.errors(include_url=False, include_context=False, include_input=False)
        ]
        return INVALID_PARAMS, f"Missing or wrong: {', '.join(places[:_SHOWN])}."
    return None


def _rest_complaint(body: Any) -> Complaint | None:
    """The body of an HTTP+JSON request must be an object."""
    return None if isinstance(body, dict) else _bad("The body must be a JSON object.", INVALID_REQUEST)


def _list_query_complaint(query: str) -> Complaint | None:
    """The status in the query of an HTTP+JSON list of tasks must exist."""
    asked = parse_qs(query, keep_blank_values=True).get("status", [])
    return None if all(_is_state(status) for status in asked) else _bad(_BAD_STATUS, INVALID_PARAMS)


def _bad(message: str, rpc_code: int) -> Complaint:
    return Complaint(400, message, rpc_code)


def _is_state(name: str) -> bool:
    return name in TaskState.keys() or name in {str(number) for number in TaskState.values()}  # noqa: SIM118

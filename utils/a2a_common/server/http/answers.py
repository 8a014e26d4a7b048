"""Error responses in the format of the binding that was called."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from utils.a2a_common.protocol.rpc_codes import SERVER_REFUSED
from utils.errors import SERVER_CRASHED

_NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    405: "UNIMPLEMENTED",
    408: "DEADLINE_EXCEEDED",
    413: "INVALID_ARGUMENT",
    415: "INVALID_ARGUMENT",
    421: "PERMISSION_DENIED",
    503: "UNAVAILABLE",
}


_RPC_ID = "rpc_id"


def local_path(scope: Scope) -> str:
    """The path below the application's own root."""
    return str(scope["path"])[len(scope.get("root_path", "")) :] or "/"


def is_json_rpc(scope: Scope) -> bool:
    """Whether the request is one to the JSON-RPC endpoint."""
    return scope.get("method") == "POST" and local_path(scope) == "/"


def is_rpc_id(value: Any) -> bool:
    """Whether a value can be the id of a JSON-RPC request that has one."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def note_rpc_id(scope: Scope, body: Any) -> None:
    """Keep the id of a JSON-RPC request, for a refusal of it, even if that replaces an earlier answer.

    Args:
        scope: The request's. Outer middleware sees the note if the server gave the scope a `state`, as uvicorn does.
        body: The request as it was parsed.
    """
    rpc_id = body.get("id") if isinstance(body, dict) else None
    if is_rpc_id(rpc_id):
        scope.setdefault("state", {})[_RPC_ID] = rpc_id


def refusal(scope: Scope, status: int, message: str, *, rpc_code: int = SERVER_REFUSED) -> Response:
    """An error response; for JSON-RPC with the id of the request, if it was kept.

    Args:
        scope: The request's.
        status: HTTP status. JSON-RPC answers its own errors (all but `SERVER_REFUSED`) with 200.
        message: One sentence.
        rpc_code: JSON-RPC error code.
    """
    if is_json_rpc(scope):
        rpc_id = scope.get("state", {}).get(_RPC_ID)
        body = {"jsonrpc": "2.0", "id": rpc_id, "error": {"code": rpc_code, "message": message}}
        return JSONResponse(body, status_code=status if rpc_code == SERVER_REFUSED else 200)
    name = _NAMES.get(status, "INTERNAL" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "UNKNOWN")
    return JSONResponse({"error": {"code": status, "status": name, "message": message}}, status_code=status)


async def http_error(request: Request, error: Exception) -> Response:
    """Answer 404, 405 and the like with JSON."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    phrase = HTTPStatus(status).phrase
    response = refusal(request.scope, status, f"{phrase}: {request.method} {request.url.path[:200]}")
    response.headers.update(getattr(error, "headers", None) or {})
    return response


async def server_error(request: Request, _: Exception) -> Response:
    """Answer an uncaught exception; the server logs the exception itself."""
    return refusal(request.scope, 500, SERVER_CRASHED)

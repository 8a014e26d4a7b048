"""What the SDK lets through that a client should hear about."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs

from a2a.types.a2a_pb2 import TaskState
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from utils.a2a_common.protocol.rpc_codes import INVALID_PARAMS, INVALID_REQUEST
from utils.a2a_common.server.http.answers import is_json_rpc, local_path, refusal
from utils.a2a_common.server.http.json_body import PARSED
from utils.a2a_common.server.http.legacy_rules import legacy_complaint

_LIST_PATH = re.compile(r"/rest(?:/[^/]+)?/tasks")


class RpcRules:
    """Refuses JSON-RPC requests without an id, and ListTasks with a status that does not exist.

    A JSON-RPC notification asks for no answer, and every operation of A2A is about its answer: to
    run one unseen would lose its task id. An unknown status would list all tasks.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on or refuse it."""
        if scope["type"] == "http":
            complaint = _complaint(scope)
            if complaint is not None:
                code, sentence, rpc_id = complaint
                answer = refusal(scope, 400, sentence, rpc_code=code, rpc_id=rpc_id)
                return await answer(scope, receive, send)
        return await self._app(scope, receive, send)


def _complaint(scope: Scope) -> tuple[int, str, Any] | None:
    if is_json_rpc(scope):
        return _rpc_complaint(scope.get(PARSED), Headers(scope=scope).get("a2a-version", ""))
    if PARSED in scope and not isinstance(scope[PARSED], dict):
        return INVALID_REQUEST, "The body must be a JSON object.", None
    if scope["method"] == "GET" and _LIST_PATH.fullmatch(local_path(scope)):
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        for status in query.get("status", []):
            if not _is_state(status):
                return INVALID_PARAMS, "status is not a task state, such as TASK_STATE_WORKING.", None
    return None


def _rpc_complaint(body: Any, version: str) -> tuple[int, str, Any] | None:
    if not isinstance(body, dict):
        return None
    if "method" in body and "id" not in body:
        return INVALID_REQUEST, "Give the request an id: every operation has an answer.", None
    rpc_id = body.get("id") if isinstance(body.get("id"), str | int) else None
    if "params" in body and not isinstance(body["params"], dict):
        return INVALID_PARAMS, "params must be an object.", rpc_id
    legacy = legacy_complaint(body, version)
    if legacy is not None:
        return (*legacy, rpc_id)
    status = body.get("params", {}).get("status")
    if body.get("method") == "ListTasks" and status is not None and not _is_state(str(status)):
        return INVALID_PARAMS, "status is not a task state, such as TASK_STATE_WORKING.", rpc_id
    return None


def _is_state(name: str) -> bool:
    return name in TaskState.keys() or name in {str(number) for number in TaskState.values()}  # noqa: SIM118

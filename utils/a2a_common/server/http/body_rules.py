"""What a request's body must be. Pure: each rule returns a `Complaint`, or nothing where the body is accepted."""

from __future__ import annotations

from dataclasses import dataclass
from email.message import EmailMessage
from typing import Any
from urllib.parse import parse_qs

from a2a.compat.v0_3.jsonrpc_adapter import JSONRPC03Adapter
from a2a.types.a2a_pb2 import TaskState
from pydantic import ValidationError

from utils.a2a_common.protocol.rpc_codes import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    SERVER_REFUSED,
    VERSION_NOT_SUPPORTED,
)

_BAD_STATUS = "status is not a task state, such as TASK_STATE_WORKING."

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
        rpc_id: Id of the JSON-RPC request, where it is known.
    """

    status: int
    message: str
    rpc_code: int = SERVER_REFUSED
    rpc_id: Any = None


def media_type_complaint(content_type: str) -> Complaint | None:
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


def rpc_complaint(body: Any, version: str) -> Complaint | None:
    """A JSON-RPC request is an object of the members of JSON-RPC, with an id, parameters in an object, and an existing status for ListTasks.

    A JSON-RPC notification has no answer, and without its answer a client would not know the id of its task. An unknown
    status would list all tasks.
    """
    if isinstance(body, list):
        return _bad("Send one request as an object: batches are not supported.", INVALID_REQUEST)
    if not isinstance(body, dict):
        return _bad("A JSON-RPC request is an object.", INVALID_REQUEST)
    rpc_id = body.get("id") if _is_id(body.get("id")) else None
    if told := _envelope_complaint(body):
        return _bad(told, INVALID_REQUEST, rpc_id)
    if "params" in body and not isinstance(body["params"], dict):
        return _bad("params must be an object.", INVALID_PARAMS, rpc_id)
    legacy = _legacy_complaint(body, version)
    if legacy is not None:
        return _bad(legacy[1], legacy[0], rpc_id)
    status = body.get("params", {}).get("status")
    if body.get("method") == "ListTasks" and status is not None and not _is_state(str(status)):
        return _bad(_BAD_STATUS, INVALID_PARAMS, rpc_id)
    return None


def _envelope_complaint(body: dict[str, Any]) -> str:
    """What is wrong with the members of a JSON-RPC request besides its parameters; empty for nothing."""
    if body.get("jsonrpc") != "2.0":
        return 'The member "jsonrpc" must be "2.0".'
    method = body.get("method")
    if not isinstance(method, str) or not method or method.startswith("rpc."):  # which JSON-RPC reserves
        return 'The member "method" must name an operation, such as SendMessage.'
    if "id" not in body:
        return "Give the request an id: every operation has an answer."
    if body["id"] is not None and not _is_id(body["id"]):
        return 'The member "id" must be a string or an integer.'
    if body.keys() - _MEMBERS:
        return "A JSON-RPC request has no members but jsonrpc, id, method and params."
    return ""


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


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


def rest_complaint(body: Any) -> Complaint | None:
    """The body of an HTTP+JSON request must be an object."""
    return None if isinstance(body, dict) else _bad("The body must be a JSON object.", INVALID_REQUEST)


def list_query_complaint(query: str) -> Complaint | None:
    """The status in the query of an HTTP+JSON list of tasks must exist."""
    asked = parse_qs(query, keep_blank_values=True).get("status", [])
    return None if all(_is_state(status) for status in asked) else _bad(_BAD_STATUS, INVALID_PARAMS)


def _bad(message: str, rpc_code: int, rpc_id: Any = None) -> Complaint:
    return Complaint(400, message, rpc_code, rpc_id)


def _is_state(name: str) -> bool:
    return name in TaskState.keys() or name in {str(number) for number in TaskState.values()}  # noqa: SIM118

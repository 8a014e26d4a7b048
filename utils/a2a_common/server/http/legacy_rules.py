"""Validates requests of protocol 0.3 before the SDK, whose errors quote its validator."""

from __future__ import annotations

from typing import Any

from a2a.compat.v0_3.jsonrpc_adapter import JSONRPC03Adapter
from pydantic import ValidationError

from utils.a2a_common.protocol.rpc_codes import INVALID_PARAMS, INVALID_REQUEST, VERSION_NOT_SUPPORTED

_SHOWN = 3
"""Problems that are named in one answer."""


def legacy_complaint(body: dict[str, Any], version: str) -> tuple[int, str] | None:
    """Code and sentence for a request of protocol 0.3 that cannot be served; `None` for any other.

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
    if body.get("jsonrpc") != "2.0":
        return INVALID_REQUEST, 'The member "jsonrpc" must be "2.0".'
    try:
        model.model_validate(body)
    except ValidationError as error:
        places = [
            ".".join(str(step) for step in problem["loc"])[:100]
            for problem in error.errors(include_url=False, include_context=False, include_input=False)
        ]
        return INVALID_PARAMS, f"Missing or wrong: {', '.join(places[:_SHOWN])}."
    return None

"""W3C trace context: read from incoming calls, set on outgoing requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from utils.observability.trace import trace_headers

if TYPE_CHECKING:
    import httpx
    from a2a.server.agent_execution import RequestContext
    from a2a.server.context import ServerCallContext

_NAMES = frozenset({"traceparent", "tracestate"})


def trace_of(context: RequestContext) -> Mapping[str, str]:
    """The trace context that the call of a turn came with; empty where it had none."""
    return trace_of_call(context.call_context) if context.call_context else {}


def trace_of_call(call: ServerCallContext) -> Mapping[str, str]:
    """The trace context that a call came with, over HTTP or gRPC; empty where it had none."""
    grpc_call = call.state.get("grpc_context")
    headers = call.state.get("headers", {}).items()
    pairs = headers if grpc_call is None else grpc_call.invocation_metadata() or ()
    return {str(name).lower(): str(value) for name, value in pairs if str(name).lower() in _NAMES}


async def pass_trace_on(request: httpx.Request) -> None:
    """Make an HTTP request a part of the current trace: an httpx request hook."""
    request.headers.update(trace_headers())

"""W3C trace context: read from incoming calls, set on outgoing requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from utils.observability.trace import trace_headers

if TYPE_CHECKING:
    import httpx
    from a2a.server.agent_execution import RequestContext

_NAMES = frozenset({"traceparent", "tracestate"})


def trace_of(context: RequestContext) -> Mapping[str, str]:
    """The trace context that a call came with, over HTTP or gRPC; empty where it had none."""
    state = context.call_context.state if context.call_context else {}
    call = state.get("grpc_context")
    pairs = call.invocation_metadata() or () if call is not None else state.get("headers", {}).items()
    return {str(name).lower(): str(value) for name, value in pairs if str(name).lower() in _NAMES}


async def pass_trace_on(request: httpx.Request) -> None:
    """Make an HTTP request a part of the current trace: an httpx request hook."""
    request.headers.update(trace_headers())

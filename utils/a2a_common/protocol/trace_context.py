"""W3C trace context: read from incoming calls, set on outgoing requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from utils.observability.trace import separate_trace_headers, server_span, trace_headers

if TYPE_CHECKING:
    import httpx
    from a2a.server.agent_execution import RequestContext
    from a2a.server.context import ServerCallContext

_SPAN = "trace_of_span"
"""Key of a call's state: the trace context of the span of its operation."""

_NAMES = frozenset({"traceparent", "tracestate"})


def trace_of(context: RequestContext) -> Mapping[str, str]:
    """The trace context that the call of a turn came with; empty where it had none."""
    return trace_of_call(context.call_context) if context.call_context else {}


@contextmanager
def operation_span(method: str, call: ServerCallContext) -> Iterator[None]:
    """The span of one operation, named as in the protocol; what the call brings about is inside it."""
    with server_span(f"a2a {method}", trace_of_call(call), rpc__system="a2a", rpc__method=method) as headers:
        call.state[_SPAN] = headers
        yield


def trace_of_call(call: ServerCallContext) -> Mapping[str, str]:
    """The trace context of a call: of the span of its operation, or that it came with; empty where it had none."""
    if _SPAN in call.state:
        of_span: Mapping[str, str] = call.state[_SPAN]
        return of_span
    grpc_call = call.state.get("grpc_context")
    headers = call.state.get("headers", {}).items()
    pairs = headers if grpc_call is None else grpc_call.invocation_metadata() or ()
    return {str(name).lower(): str(value) for name, value in pairs if str(name).lower() in _NAMES}


def trace_hook(service: str, *, own: bool) -> Callable[[httpx.Request], Awaitable[None]]:
    """An httpx request hook: requests to an own service continue the current trace, requests to others begin a new one.

    Args:
        service: Its name, in links to traces of others.
        own: Whether it is ours.
    """

    async def pass_on(request: httpx.Request) -> None:
        request.headers.update(trace_headers() if own else separate_trace_headers(service))

    return pass_on

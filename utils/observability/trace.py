"""Spans, and the W3C trace context that connects them across processes.

Uses only OpenTelemetry's API: without an exporter (`utils.observability.export`) spans cost almost nothing, and the
trace id is still the same in the logs of every process that worked on a request. Exceptions are recorded by their
type only, since their text may be a user's.
"""

from __future__ import annotations

import hmac
import random
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING
from uuid import uuid4

from structlog.contextvars import get_contextvars

if TYPE_CHECKING:
    from opentelemetry.trace import Span
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

Value = str | int | float | bool

_SCOPE = "platform-engineer"

_TRACE_ID_KEY = secrets.token_bytes(32)
"""Key of this process, from which the trace IDs for external services are derived."""

agent_at_work: ContextVar[str] = ContextVar("agent_at_work", default="")
"""Name of the agent whose turn is running; empty outside a turn."""


def current_trace_id() -> str:
    """The trace id of the current span as 32 hexadecimal digits; a new one outside a span."""
    from opentelemetry import trace

    context = trace.get_current_span().get_span_context()
    return f"{context.trace_id:032x}" if context.is_valid else uuid4().hex


def bound_trace_id() -> str:
    """The trace id that the log lines of the running turn have; empty outside a turn."""
    return str(get_contextvars().get("trace_id", ""))


def trace_id_in(carrier: Mapping[str, str]) -> str:
    """The trace id of a call's headers as 32 hexadecimal digits; a new one if they have none."""
    from opentelemetry import trace

    context = trace.get_current_span(_propagator().extract(dict(carrier))).get_span_context()
    return f"{context.trace_id:032x}" if context.is_valid else uuid4().hex


@contextmanager
def root_span(name: str, carrier: Mapping[str, str], **attributes: Value) -> Iterator[Span]:
    """The span of a turn: a child of the span of the call that started it, or part of its trace when that has ended.

    Args:
        name: The operation.
        carrier: The call's headers; `traceparent` and `tracestate` are read, invalid ones ignored.
        attributes: Attributes of the span, a dot written as two underscores.
    """
    from opentelemetry.trace import SpanKind, get_tracer, use_span

    parent = _propagator().extract(dict(carrier))
    span = get_tracer(_SCOPE).start_span(
        name, context=parent, kind=SpanKind.INTERNAL, attributes=_dotted(attributes)
    )
    if not span.get_span_context().is_valid:
        span = _unrecorded()
    with use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        yield from _marking_errors(span)


@contextmanager
def server_span(name: str, carrier: Mapping[str, str], **attributes: Value) -> Iterator[Mapping[str, str]]:
    """The span of one call to this process: part of the caller's trace if it sent one. It does not become the current span.

    Args:
        name: The operation.
        carrier: The call's headers; `traceparent` and `tracestate` are read, invalid ones ignored.
        attributes: Attributes of the span, a dot written as two underscores.

    Yields:
        The headers with its trace context; those of the caller if spans are not recorded.
    """
    from opentelemetry.trace import SpanKind, get_tracer, set_span_in_context

    parent = _propagator().extract(dict(carrier))
    span = get_tracer(_SCOPE).start_span(
        name, context=parent, kind=SpanKind.SERVER, attributes=_dotted(attributes)
    )
    headers: dict[str, str] = {}
    _propagator().inject(headers, set_span_in_context(span))
    try:
        yield headers or carrier
    except Exception as error:
        failed(span, str(getattr(error, "code", "")) or type(error).__name__)
        raise
    finally:
        span.end()


@contextmanager
def child_span(
    name: str, *, remote: bool = False, marks_errors: bool = True, **attributes: Value
) -> Iterator[Span]:
    """A span inside the current one.

    Args:
        name: The operation.
        remote: Whether it is a call to another process.
        marks_errors: Whether an exception marks the span as failed.
        attributes: Attributes of the span, a dot written as two underscores.
    """
    from opentelemetry.trace import SpanKind, get_tracer

    kind = SpanKind.CLIENT if remote else SpanKind.INTERNAL
    started = get_tracer(_SCOPE).start_as_current_span(
        name, kind=kind, attributes=_dotted(attributes), record_exception=False, set_status_on_exception=False
    )
    with started as span:
        if marks_errors:
            yield from _marking_errors(span)
        else:
            yield span


def trace_headers() -> dict[str, str]:
    """The headers that carry the current trace context; none outside a span."""
    headers: dict[str, str] = {}
    _propagator().inject(headers)
    return headers


def separate_trace_headers(service: str) -> dict[str, str]:
    """The headers that begin a separate trace at an external service; none outside a span.

    Its ID reveals nothing of the current trace, whose ID a caller may have chosen, and is the same for all requests of the current
    trace to that service from this process. `tracestate` is not sent, since a caller may have written anything in it. The current span
    is linked to the separate trace.

    Args:
        service: The service's name. Each service gets its own trace, so that two services cannot correlate them.
    """
    from opentelemetry.trace import (
        NonRecordingSpan,
        SpanContext,
        TraceFlags,
        get_current_span,
        set_span_in_context,
    )

    span = get_current_span()
    current = span.get_span_context()
    if not current.is_valid:
        return {}
    derived = hmac.digest(_TRACE_ID_KEY, current.trace_id.to_bytes(16) + service.encode(), "sha256")
    sampled = TraceFlags(current.trace_flags & TraceFlags.SAMPLED)
    remote = SpanContext(
        int.from_bytes(derived[:16]), random.getrandbits(64) or 1, is_remote=False, trace_flags=sampled
    )
    if remote.trace_id not in {link.context.trace_id for link in getattr(span, "links", ())}:
        span.add_link(remote, {"peer.service": service})
    headers: dict[str, str] = {}
    _propagator().inject(headers, set_span_in_context(NonRecordingSpan(remote)))
    return headers


def failed(span: Span, reason: str) -> None:
    """Mark a span as failed, with an error code or a type's name."""
    from opentelemetry.trace import StatusCode

    span.set_attribute("error.type", reason)
    span.set_status(StatusCode.ERROR)


def _marking_errors(span: Span) -> Iterator[Span]:
    try:
        yield span
    except Exception as error:
        failed(span, str(getattr(error, "code", "")) or type(error).__name__)
        raise


def _dotted(attributes: Mapping[str, Value]) -> dict[str, Value]:
    return {name.replace("__", "."): value for name, value in attributes.items() if value != ""}


def _propagator() -> TraceContextTextMapPropagator:
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator()


def _unrecorded() -> Span:
    """A span that is not recorded, with IDs for the logs and for called services."""
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

    ids = SpanContext(
        trace_id=random.getrandbits(128) or 1,
        span_id=random.getrandbits(64) or 1,
        is_remote=False,
        trace_flags=TraceFlags(
            TraceFlags.SAMPLED
        ),  # so that a called service with an exporter records its spans
    )
    return NonRecordingSpan(ids)

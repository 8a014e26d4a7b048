"""The id that ties what a user saw to what the log says."""

from __future__ import annotations

from uuid import uuid4


def current_trace_id() -> str:
    """The trace id of the current OpenTelemetry span as 32 hexadecimal digits; a new one outside a span."""
    from opentelemetry import trace

    context = trace.get_current_span().get_span_context()
    return f"{context.trace_id:032x}" if context.is_valid else uuid4().hex

"""Exports spans to an OpenTelemetry collector. Imports nothing when none is configured."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from utils.observability.settings import TelemetrySettings

Stop = Callable[[], Awaitable[None]]

_EXPORT_SECONDS = 5
"""Timeout of the collector, per batch and at shutdown."""


def export_traces(settings: TelemetrySettings, *, agent: str, version: str) -> Stop:
    """Export the spans of this process over OTLP/HTTP. Call once, at the entry point.

    Returns:
        A function that flushes and stops the export.
    """
    if settings.endpoint is None:
        return _nothing
    import asyncio

    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    exporter = OTLPSpanExporter(
        endpoint=f"{settings.endpoint.rstrip('/')}/v1/traces",
        headers=_headers(settings),
        timeout=_EXPORT_SECONDS,
    )
    names = {"service.name": agent, "service.namespace": "platform-engineer", "service.version": version}
    provider = TracerProvider(resource=Resource.create(names), shutdown_on_exit=False)
    processor = BatchSpanProcessor(exporter)
    provider.add_span_processor(processor)
    trace.set_tracer_provider(provider)

    async def stop() -> None:
        await asyncio.to_thread(processor.shutdown)

    return stop


async def _nothing() -> None:
    """Stops nothing."""


def _headers(settings: TelemetrySettings) -> dict[str, str] | None:
    if settings.headers is None:
        return None
    pairs = [pair.partition("=") for pair in settings.headers.get_secret_value().split(",")]
    return {name.strip(): value.strip() for name, _, value in pairs}

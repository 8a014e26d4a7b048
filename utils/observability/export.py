"""Exports spans to an OpenTelemetry collector. Imports nothing when none is configured."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from utils.observability.settings import TelemetrySettings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

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
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    names = {"service.name": agent, "service.namespace": "platform-engineer", "service.version": version}
    provider = TracerProvider(resource=Resource.create(names), shutdown_on_exit=False)
    processor = BatchSpanProcessor(span_exporter(settings))
    provider.add_span_processor(processor)
    trace.set_tracer_provider(provider)

    async def stop() -> None:
        await asyncio.to_thread(processor.shutdown)

    return stop


def span_exporter(settings: TelemetrySettings) -> SpanExporter:
    """Sends spans to the collector of these settings, which name one."""
    import requests
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    from utils.net.web_client import disable_cookies

    session = requests.Session()
    disable_cookies(session.cookies)
    return OTLPSpanExporter(
        endpoint=f"{(settings.endpoint or '').rstrip('/')}/v1/traces",
        headers=_headers(settings),
        timeout=_EXPORT_SECONDS,
        session=session,
    )


async def _nothing() -> None:
    """Stops nothing."""


def _headers(settings: TelemetrySettings) -> dict[str, str] | None:
    if settings.headers is None:
        return None
    pairs = [pair.partition("=") for pair in settings.headers.get_secret_value().split(",")]
    return {name.strip(): value.strip() for name, _, value in pairs}

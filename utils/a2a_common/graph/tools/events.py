"""Events that a tool publishes while it runs: artifacts, a status text, metadata."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from utils.a2a_common.execution.publishable import check_event
from utils.events import ArtifactAdded, MetadataReported, StatusText

ToolEvent = ArtifactAdded | MetadataReported | StatusText

_published: ContextVar[list[ToolEvent] | None] = ContextVar("published", default=None)


def publish(event: ToolEvent) -> None:
    """Publish an event of the task from inside a tool; what the tool returns is for the model.

    Raises:
        EventRefused: It cannot be sent, or a tool may not publish it, such as one that ends a turn; the message says what to write instead.
        RuntimeError: No tool of an agent is running.
    """
    from langgraph.config import get_stream_writer

    check_event(event)
    get_stream_writer()(event)
    if (published := _published.get()) is not None:
        published.append(event)


@contextmanager
def published_events() -> Iterator[list[ToolEvent]]:
    """The events that are published inside the block, in order, beside being published."""
    events: list[ToolEvent] = []
    token = _published.set(events)
    try:
        yield events
    finally:
        _published.reset(token)

"""Events that a tool publishes while it runs: artifacts, a status text, metadata."""

from __future__ import annotations

from utils.events import ArtifactAdded, MetadataReported, StatusText

ToolEvent = ArtifactAdded | MetadataReported | StatusText


def publish(event: ToolEvent) -> None:
    """Publish an event of the task from inside a tool; what the tool returns is for the model.

    Raises:
        RuntimeError: No tool of an agent is running.
    """
    from langgraph.config import get_stream_writer

    get_stream_writer()(event)

"""Sends the text of an answer: the first piece at once, later ones coalesced."""

from __future__ import annotations

import asyncio

from utils.a2a_common.execution.event_sink import EventSink
from utils.a2a_common.protocol.extensions import ARTIFACT_EXTENSION, RESPONSE_ARTIFACT
from utils.a2a_common.protocol.media_modes import MARKDOWN

FLUSH_SECONDS = 0.08
"""Longest time that text waits: below what a reader sees as a stutter."""

FLUSH_CHARACTERS = 512
"""Most text that waits."""


class ResponseStream:
    """Publishes artifact `response`: first chunk `append=false`, then `append=true`, the last marked.

    Args:
        sink: Takes the chunks.
        media_type: Of the text; `None` for a client that accepts no text, to which none is sent.

    Attributes:
        unsent: Whether there was text that the client does not accept.
    """

    def __init__(self, sink: EventSink, media_type: str | None = MARKDOWN) -> None:
        self._sink = sink
        self._media_type = media_type
        self.unsent = False
        self._buffer = ""
        self._origin = ""
        self._started = False
        self._opened = False
        self._timer: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    async def write(self, text: str, origin: str = "") -> None:
        """Add text; it is published now or within `FLUSH_SECONDS`. `origin` is the agent whose words an answer begins with."""
        if self._media_type is None:
            self.unsent = True
            return
        self._buffer += text
        if not self._opened:
            self._origin = origin
        if not self._opened or len(self._buffer) >= FLUSH_CHARACTERS:
            await self.flush()
        elif self._timer is None:
            self._timer = asyncio.create_task(self._flush_later())

    def restart(self) -> None:
        """Forget what was said: the next chunk replaces the artifact."""
        self._buffer = ""
        self._opened = False

    async def flush(self, *, last: bool = False) -> None:
        """Publish what waits. With `last`, close the artifact, if there is one."""
        self._stop_timer()
        async with self._lock:
            text, self._buffer = self._buffer, ""
            if not text and not (last and self._started):
                return
            append, self._opened, self._started = self._opened, True, True
            await self._publish(text, append=append, last=last)

    def discard(self) -> None:
        """Stop publishing: nothing that waits will be sent."""
        self._stop_timer()
        self._buffer = ""

    async def _publish(self, text: str, *, append: bool, last: bool) -> None:
        from a2a.types.a2a_pb2 import Artifact, Part

        artifact = Artifact(
            artifact_id=RESPONSE_ARTIFACT,
            name=RESPONSE_ARTIFACT,
            parts=[Part(text=text, media_type=self._media_type)],
        )
        if self._origin and not append:
            artifact.metadata.update({ARTIFACT_EXTENSION: {"origin": self._origin}})
            artifact.extensions.append(ARTIFACT_EXTENSION)
        await self._sink.artifact(artifact, append=append, last=last)

    async def _flush_later(self) -> None:
        await asyncio.sleep(FLUSH_SECONDS)
        self._timer = None
        await self.flush()

    def _stop_timer(self) -> None:
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()

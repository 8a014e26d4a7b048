"""`ResponseStream`: the text of an answer as the chunks of one artifact.

The first piece of a text is sent at once, later ones are coalesced.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from utils.a2a_common.protocol.extensions import ARTIFACT_EXTENSION, RESPONSE_ARTIFACT
from utils.a2a_common.protocol.media_modes import MARKDOWN

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Artifact

FLUSH_SECONDS = 0.08
"""Longest time that text waits: below what a reader sees as a stutter."""

FLUSH_CHARACTERS = 512
"""Most text that waits."""


class ResponseStream:
    """Publishes artifact `response`: first chunk `append=false`, then `append=true`, the last marked.

    Args:
        publish: Takes each chunk, with `append` and `last`.
        media_type: Of the text; `None` for a client that accepts no text, so that none is sent.

    Attributes:
        unsent: Whether there was text that the client does not accept.
    """

    def __init__(self, publish: Callable[..., Awaitable[None]], media_type: str | None = MARKDOWN) -> None:
        self._publish = publish
        self._media_type = media_type
        self.unsent = False
        self._buffer = ""
        self._origin = ""
        self._started = False
        self._opened = False
        self._timer: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    async def write(self, text: str, origin: str = "") -> None:
        """Add text; it is published now or within `FLUSH_SECONDS`. `origin` is the agent with whose text an answer begins."""
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
        """Drop the text so far: the next chunk replaces the artifact."""
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
            await self._publish(self._chunk(text, append=append), append=append, last=last)

    def discard(self) -> None:
        """Stop publishing; pending text is dropped."""
        self._stop_timer()
        self._buffer = ""

    def _chunk(self, text: str, *, append: bool) -> Artifact:
        from a2a.types.a2a_pb2 import Artifact, Part

        artifact = Artifact(
            artifact_id=RESPONSE_ARTIFACT,
            name=RESPONSE_ARTIFACT,
            parts=[Part(text=text, media_type=self._media_type)],
        )
        if self._origin and not append:
            artifact.metadata.update({ARTIFACT_EXTENSION: {"origin": self._origin}})
            artifact.extensions.append(ARTIFACT_EXTENSION)
        return artifact

    async def _flush_later(self) -> None:
        await asyncio.sleep(FLUSH_SECONDS)
        self._timer = None
        await self.flush()

    def _stop_timer(self) -> None:
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()

"""Keeps the raw responses of an agent, since a lenient client hides errors in them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx

_MOST = 2_000_000
"""Bytes of one answer that are kept."""


class RawAnswers:
    """The bodies of all answers, in order."""

    def __init__(self) -> None:
        self._bodies: list[bytearray] = []

    async def keep(self, response: httpx.Response) -> None:
        """Hook of an HTTP client: copy the body of a response while it is read."""
        body = bytearray()
        self._bodies.append(body)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _Copied(response.stream, body)

    def values(self) -> Iterator[Any]:
        """The JSON values of all answers: of a body, or of each event of a stream."""
        for body in self._bodies:
            text = body.decode(errors="replace")
            decoded = _decoded(text)
            if decoded is not None:
                yield decoded
                continue
            for line in text.splitlines():
                if line.startswith("data:") and (value := _decoded(line[5:])) is not None:
                    yield value


class _Copied(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, copy: bytearray) -> None:
        self._inner, self._copy = inner, copy

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            if len(self._copy) < _MOST:
                self._copy += piece
            yield piece

    async def aclose(self) -> None:
        """Close the connection's side of the body."""
        await self._inner.aclose()


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None

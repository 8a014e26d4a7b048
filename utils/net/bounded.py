"""Limits the size of HTTP responses, counted after decompression and before a client buffers the complete body.

httpx decompresses each chunk without a limit: 64 KiB of gzip become 64 MiB, and nested gzip, Brotli or Zstandard as much as the
sender likes. Each client of this project is therefore created with `Bound.hooks`. It accepts gzip and deflate only, decompresses in
small chunks, counts them, and ends the response with a typed error at the limit. If the client expects a stream of events, the stream
has no limit but each event has; if it does not, the stream is buffered and limited like any other body.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx

from utils.net import sse

MIB = 1024 * 1024

LARGEST_BODY = 16 * MIB
"""Default limit of one response, in bytes: four times what an agent accepts as a request by default."""

LARGEST_EVENT = 4 * MIB
"""Default limit of one event of a stream, in bytes: what gRPC accepts as one message by default."""

CHUNK = 65_536
"""Most bytes that are decompressed at once: as many as httpx reads at once."""

_ACCEPT_ENCODING = "gzip, deflate"
_ACCEPTED = frozenset({"gzip", "deflate"})
_NOT_ACCEPTED = frozenset({"br", "zstd"})
"""What httpx decompresses too, if the packages for it are installed."""


class AnswerTooLarge(httpx.RequestError):
    """A body or an event exceeds its limit. The message is a sentence.

    It is an error of httpx, so that code that handles a lost response handles this one too; it is no `TransportError`, since
    repeating the request would bring the same response.

    Attributes:
        most: The limit, in bytes.
    """

    def __init__(self, what: str, most: int) -> None:
        super().__init__(f"The server sent {what} of more than {most:,} bytes.")
        self.most = most


@dataclass(frozen=True, slots=True)
class Bound:
    """Limits of the responses of one server, in bytes after decompression.

    Attributes:
        body: Limit of one response.
        event: Limit of one event of a stream of events; `None` if no stream is expected: `body` applies to it then.
        stream: Limit of all events of a stream; `None` for no limit.
    """

    body: int = LARGEST_BODY
    event: int | None = None
    stream: int | None = None

    def hooks(self, **more: list[Any]) -> dict[str, list[Any]]:
        """The `event_hooks` of a client; those in `more` (`request`, `response`) come first."""
        request, response = more.get("request", []), more.get("response", [])
        return {"request": [*request, _set_accept_encoding], "response": [*response, self.apply]}

    async def apply(self, response: httpx.Response) -> None:
        """Limit a response whose body was not read yet.

        Raises:
            httpx.DecodingError: It uses a compression that was not requested.
        """
        headers = response.headers
        encoding = _encoding(headers.get("content-encoding", ""), response.request)
        if encoding:  # httpx receives the body decompressed, so neither header is true any more
            for name in ("content-encoding", "content-length"):
                headers.pop(name, None)
        decompressor = _Decompressor(encoding) if encoding else None
        bounded = _stream_class(type(response).__module__.partition(".")[0])
        response.stream = bounded(
            response.stream, decompressor, self._counters(headers.get("content-type", ""))
        )

    def _counters(self, media_type: str) -> list[_BodyCounter | _EventCounter]:
        if self.event is None or not media_type.lower().startswith(sse.MEDIA_TYPE):
            return [_BodyCounter(self.body)]
        of_stream = [] if self.stream is None else [_BodyCounter(self.stream)]
        return [_EventCounter(self.event), *of_stream]


async def _set_accept_encoding(request: httpx.Request) -> None:
    if request.headers.get("accept-encoding") != "identity":
        request.headers["accept-encoding"] = _ACCEPT_ENCODING


def _encoding(header: str, request: httpx.Request) -> str:
    """The compression of a body; empty if it has none. Names that httpx does not know are ignored, as httpx does."""
    known = _ACCEPTED | _NOT_ACCEPTED
    names = [name for each in header.split(",") if (name := each.strip().lower()) in known]
    if len(names) > 1 or _NOT_ACCEPTED & set(names):
        raise httpx.DecodingError("The response uses a compression that was not requested.", request=request)
    return names[0] if names else ""


class _Bounded:
    """A body that ends with an error at its limit."""

    def __init__(
        self,
        inner: Any,
        decompressor: _Decompressor | None,
        counters: Sequence[_BodyCounter | _EventCounter],
    ) -> None:
        self._inner, self._decompressor, self._counters = inner, decompressor, counters

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            for data in self._decompressor.chunks(chunk) if self._decompressor else (chunk,):
                for counter in self._counters:
                    counter.count(data)
                yield data

    async def aclose(self) -> None:
        """Close the body of the connection."""
        await self._inner.aclose()


@cache
def _stream_class(package: str) -> Any:
    """`_Bounded` as a byte stream of httpx, or of its next version, httpx2, which clients of model providers use."""
    return type("_Bounded", (_Bounded, importlib.import_module(package).AsyncByteStream), {})


class _Decompressor:
    """Decompresses a body, a small chunk at a time."""

    def __init__(self, encoding: str) -> None:
        self._maybe_raw = encoding == "deflate"
        """Whether it may lack the zlib header, as some servers' does."""
        self._zlib = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def chunks(self, data: bytes) -> Iterator[bytes]:
        """The data in a chunk of the compressed body.

        Raises:
            httpx.DecodingError: It is not compressed as its Content-Encoding says.
        """
        full = True
        while (data or full) and not self._zlib.eof:
            chunk = self._next(data)
            data, full = self._zlib.unconsumed_tail, len(chunk) == CHUNK
            if chunk:
                yield chunk

    def _next(self, data: bytes) -> bytes:
        maybe_raw, self._maybe_raw = self._maybe_raw, False
        try:
            return self._zlib.decompress(data, CHUNK)
        except zlib.error as error:
            if not maybe_raw:
                raise httpx.DecodingError(
                    "The response is not compressed as its Content-Encoding says."
                ) from error
            self._zlib = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._next(data)


class _BodyCounter:
    """Counts the bytes of a body."""

    def __init__(self, most: int) -> None:
        self._most, self._counted = most, 0

    def count(self, chunk: bytes) -> None:
        """Count the next chunk.

        Raises:
            AnswerTooLarge: The body exceeds the limit.
        """
        self._counted += len(chunk)
        if self._counted > self._most:
            raise AnswerTooLarge("an answer", self._most)


class _EventCounter:
    """Counts the bytes of the event that has not ended yet."""

    def __init__(self, most: int) -> None:
        self._most, self._open, self._ends = most, 0, sse.EventEnds()

    def count(self, chunk: bytes) -> None:
        """Count the next chunk.

        Raises:
            AnswerTooLarge: An event exceeds the limit.
        """
        begin = -self._open
        for end in self._ends.of(chunk):
            self._check(end - begin)
            begin = end
        self._open = len(chunk) - begin
        self._check(self._open)

    def _check(self, size: int) -> None:
        if size > self._most:
            raise AnswerTooLarge("one event", self._most)

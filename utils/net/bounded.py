"""Bounds what another party sends over HTTP, counted after it was unpacked and before anything holds it as a whole.

httpx unpacks each piece as it comes, without a limit: 64 KiB of gzip become 64 MiB, and of gzip within gzip, of Brotli or
of Zstandard as much as the sender likes. So each client of this project is made with `Bound.hooks`. It asks for gzip and
deflate only, unpacks in small pieces, counts them, and ends the response with a typed error where it goes too far. A stream of events
may be as long as it likes where a client awaits one: each of its events is bounded. Whoever awaits none holds it as a whole, as any other body.
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
"""Bytes of one answer where nothing else is said: four times what an agent takes as a request by default."""

LARGEST_EVENT = 4 * MIB
"""Bytes of one event of a stream: what gRPC takes as one message by default."""

PIECE = 65_536
"""Most bytes that are unpacked at once: as many as httpx reads at once."""

_ASKED = "gzip, deflate"
_PACKED = frozenset({"gzip", "deflate"})
_UNASKED = frozenset({"br", "zstd"})
"""What httpx unpacks too, where the packages for it are installed."""


class AnswerTooLarge(httpx.RequestError):
    """More came than is taken: of a body, or of one event. The message is a sentence.

    An error of httpx, so that whoever handles a lost answer handles this one too; no `TransportError`, since the same
    request would bring the same answer.

    Attributes:
        most: Bytes that would have been taken.
    """

    def __init__(self, what: str, most: int) -> None:
        super().__init__(f"The server sent {what} of more than {most:,} bytes.")
        self.most = most


@dataclass(frozen=True, slots=True)
class Bound:
    """What is taken from one server.

    Attributes:
        body: Bytes of one answer, unpacked.
        event: Bytes of one event, where the answer is a stream of events; `None` where none is awaited: `body` holds for it too then.
        stream: Bytes of all events of a stream; `None` where it may go on for ever.
    """

    body: int = LARGEST_BODY
    event: int | None = None
    stream: int | None = None

    def hooks(self, **more: list[Any]) -> dict[str, list[Any]]:
        """The `event_hooks` of a client; those in `more` (`request`, `response`) come first."""
        request, response = more.get("request", []), more.get("response", [])
        return {"request": [*request, _ask], "response": [*response, self.apply]}

    async def apply(self, response: httpx.Response) -> None:
        """Put the bound on a response whose body was not read yet.

        Raises:
            httpx.DecodingError: It uses a compression that was not requested.
        """
        headers = response.headers
        packed = _packed(headers.get("content-encoding", ""), response.request)
        if packed:  # from here on it is neither packed nor of the length that was told
            for name in ("content-encoding", "content-length"):
                headers.pop(name, None)
        unpacker = _Unpacker(packed) if packed else None
        bounded = _kind_of(type(response).__module__.partition(".")[0])
        response.stream = bounded(response.stream, unpacker, self._gauges(headers.get("content-type", "")))

    def _gauges(self, media_type: str) -> list[_BodyGauge | _EventGauge]:
        if self.event is None or not media_type.lower().startswith(sse.MEDIA_TYPE):
            return [_BodyGauge(self.body)]
        whole = [] if self.stream is None else [_BodyGauge(self.stream)]
        return [_EventGauge(self.event), *whole]


async def _ask(request: httpx.Request) -> None:
    if request.headers.get("accept-encoding") != "identity":
        request.headers["accept-encoding"] = _ASKED


def _packed(said: str, request: httpx.Request) -> str:
    """How a body is packed; empty where it is not. Names that httpx does not know mean nothing, as there."""
    names = [name for each in said.split(",") if (name := each.strip().lower()) in _PACKED | _UNASKED]
    if len(names) > 1 or _UNASKED & set(names):
        raise httpx.DecodingError("The response uses a compression that was not requested.", request=request)
    return names[0] if names else ""


class _Bounded:
    """A body that ends with an error where it goes too far."""

    def __init__(
        self, inner: Any, unpacker: _Unpacker | None, gauges: Sequence[_BodyGauge | _EventGauge]
    ) -> None:
        self._inner, self._unpacker, self._gauges = inner, unpacker, gauges

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            for unpacked in self._unpacker.pieces(piece) if self._unpacker else (piece,):
                for gauge in self._gauges:
                    gauge.take(unpacked)
                yield unpacked

    async def aclose(self) -> None:
        """Close the connection's side of the body."""
        await self._inner.aclose()


@cache
def _kind_of(package: str) -> Any:
    """`_Bounded` as a byte stream of httpx, or of its next version, httpx2, which clients of model providers use."""
    return type("_Bounded", (_Bounded, importlib.import_module(package).AsyncByteStream), {})


class _Unpacker:
    """Unpacks a body, a small piece at a time."""

    def __init__(self, packed: str) -> None:
        self._bare = packed == "deflate"
        """Whether it may lack the header of zlib, as that of some servers does."""
        self._zlib = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """What a piece of the packed body brings.

        Raises:
            httpx.DecodingError: It is not compressed as its Content-Encoding says.
        """
        full = True
        while (data or full) and not self._zlib.eof:
            unpacked = self._next(data)
            data, full = self._zlib.unconsumed_tail, len(unpacked) == PIECE
            if unpacked:
                yield unpacked

    def _next(self, data: bytes) -> bytes:
        bare, self._bare = self._bare, False
        try:
            return self._zlib.decompress(data, PIECE)
        except zlib.error as error:
            if not bare:
                raise httpx.DecodingError(
                    "The response is not compressed as its Content-Encoding says."
                ) from error
            self._zlib = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._next(data)


class _BodyGauge:
    """Counts the bytes of a body."""

    def __init__(self, most: int) -> None:
        self._most, self._taken = most, 0

    def take(self, piece: bytes) -> None:
        """Count the next piece.

        Raises:
            AnswerTooLarge: That is too much.
        """
        self._taken += len(piece)
        if self._taken > self._most:
            raise AnswerTooLarge("an answer", self._most)


class _EventGauge:
    """Counts the bytes of the event that is not ended yet."""

    def __init__(self, most: int) -> None:
        self._most, self._open, self._ends = most, 0, sse.EventEnds()

    def take(self, piece: bytes) -> None:
        """Count the next piece.

        Raises:
            AnswerTooLarge: An event is too large.
        """
        begin = -self._open
        for end in self._ends.of(piece):
            self._check(end - begin)
            begin = end
        self._open = len(piece) - begin
        self._check(self._open)

    def _check(self, size: int) -> None:
        if size > self._most:
            raise AnswerTooLarge("one event", self._most)

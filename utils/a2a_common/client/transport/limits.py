"""Size limits for responses of other agents, applied to the body before anything parses it.

A response is held back until it is known to be within the limits: a stream event by event, any other body as a whole.
So an agent cannot make memory or the time of one parse grow without bound. Only here is an agent's response corrected
before it is parsed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import httpx

from utils.a2a_common.client.transport.times import in_utc
from utils.a2a_common.protocol.json_body import without_strings
from utils.errors import PeerLimitExceeded
from utils.messages.characters import escaped_halves_replaced
from utils.net import sse

ANSWER, CARD = "answer", "card"
"""Kinds of limited responses."""

KIB, MIB = 1024, 1024 * 1024

LARGEST_CARD = 256 * KIB
"""Bytes of a card. A card with the skills of 50 tools has about 30 KiB."""

LARGEST_ANSWER = 8 * MIB
"""Bytes of one response, including a complete stream: twice the default limit of a request body."""

LARGEST_EVENT = 4 * MIB
"""Bytes of one event of a stream: what gRPC takes as one message by default."""

MOST_VALUES = 100_000
"""JSON values of one event or body; parsing them holds the event loop up for a quarter of a second."""

MOST_EVENTS = 20_000
"""Events of one delegation: the largest answer, with each word in an event of its own of some 400 bytes."""

_PLAIN = ("", "identity")


@dataclass(frozen=True, slots=True)
class PeerLimits:
    """The limits of one kind of response of one agent.

    Attributes:
        agent: Our name for it.
        what: What it sends: `ANSWER` or `CARD`.
        most: Bytes of a complete response.
    """

    agent: str
    what: str = ANSWER
    most: int = LARGEST_ANSWER

    async def bound(self, response: httpx.Response) -> None:
        """Put the limits on a response whose body was not read yet: a response hook of an HTTP client.

        Raises:
            PeerLimitExceeded: It is compressed, so that its size is not known before it is unpacked.
        """
        if response.headers.get("content-encoding", "").strip().lower() not in _PLAIN:
            raise self.exceeded(f"a compressed {self.what}, which was not asked for")
        assert isinstance(response.stream, httpx.AsyncByteStream)
        streams = sse.MEDIA_TYPE in response.headers.get("content-type", "")
        response.encoding = "utf-8"  # any other coding would hide the end of an event
        response.stream = _Bounded(response.stream, self, streams=streams)

    def check(self, piece: bytes, what: str, most: int) -> None:
        """Whether an event or a body may be parsed.

        Raises:
            PeerLimitExceeded: It may not.
        """
        if len(piece) > most:
            raise self.exceeded(f"{what} of more than {_size(most)}")
        if _values(piece) > MOST_VALUES:
            raise self.exceeded(f"{what} of more than {MOST_VALUES:,} values")

    def exceeded(self, sent: str) -> PeerLimitExceeded:
        """The error, in one sentence."""
        way_out = " Ask it for a smaller part." if self.what == ANSWER else ""
        return PeerLimitExceeded(f"The {self.agent} agent sent {sent}.{way_out}")


class _Bounded(httpx.AsyncByteStream):
    """A body that ends with an error if it exceeds a limit, has half of a character in a text, or a time without a zone."""

    def __init__(self, inner: httpx.AsyncByteStream, limits: PeerLimits, *, streams: bool) -> None:
        self._inner, self._limits, self._streams = inner, limits, streams
        self._whole = "an answer" if limits.what == ANSWER else f"a {limits.what}"

    async def __aiter__(self) -> AsyncIterator[bytes]:
        held, ends, total = bytearray(), sse.EventEnds(), 0
        async for piece in self._inner:
            total += len(piece)
            if total > self._limits.most:
                raise self._limits.exceeded(f"{self._whole} of more than {_size(self._limits.most)}")
            before = len(held)
            held += piece
            if self._streams and (ready := self._checked(held, [before + end for end in ends.of(piece)])):
                yield _mended(bytes(held[:ready]))
                del held[:ready]
        self._limits.check(bytes(held), self._whole, self._limits.most)
        yield _mended(bytes(held))

    def _checked(self, held: bytearray, ends: Sequence[int]) -> int:
        """Check the events at the start of `held` that end at `ends`, and the partial next one; return the bytes of the complete ones."""
        begin = 0
        for end in ends:
            self._limits.check(bytes(held[begin:end]), "one event", LARGEST_EVENT)
            begin = end
        if len(held) - begin > LARGEST_EVENT:
            raise self._limits.exceeded(f"one event of more than {_size(LARGEST_EVENT)}")
        return begin

    async def aclose(self) -> None:
        """Close the connection's side of the body."""
        await self._inner.aclose()


def _mended(body: bytes) -> bytes:
    """The body with corrections of what could not be parsed or stored."""
    return in_utc(escaped_halves_replaced(body))


def _values(body: bytes) -> int:
    """An upper bound of the number of JSON values in a body: counts opening brackets and the separators between values."""
    if _marks(body) <= MOST_VALUES:
        return 0
    return _marks(without_strings(body))


def _marks(body: bytes) -> int:
    return body.count(b",") + body.count(b"{") + body.count(b"[")


def _size(count: int) -> str:
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if count % unit == 0:
            return f"{count // unit} {name}"
    return f"{count:,} bytes"

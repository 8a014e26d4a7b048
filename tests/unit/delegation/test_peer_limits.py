"""The bounds of a response's body, however its bytes are cut into pieces."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import httpx
import pytest

from utils.a2a_common.client.transport import limits as peer_limits
from utils.a2a_common.client.transport.limits import CARD, PeerLimits
from utils.errors import PeerLimitExceeded


class Pieces(httpx.AsyncByteStream):
    """A body in pieces."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


async def taken(pieces: Sequence[bytes], limits: PeerLimits, kind: str = "text/event-stream") -> list[bytes]:
    """What is let through of a body."""
    response = httpx.Response(200, headers={"content-type": kind}, stream=Pieces(pieces))
    await limits.bound(response)
    assert isinstance(response.stream, httpx.AsyncByteStream)
    return [piece async for piece in response.stream]


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r"])
async def test_an_event_passes_when_it_has_ended_wherever_its_bytes_were_cut(end: bytes) -> None:
    body = b"data: a" + end + b"data: bb" + end + b"data: c"
    for at in range(1, len(body)):
        for cut in (at, at + 1):
            pieces = [body[:at], body[at:cut], body[cut:]]
            assert b"".join(await taken(pieces, PeerLimits("far"))) == body
    single = [body[at : at + 1] for at in range(len(body))]
    passed = await taken(single, PeerLimits("far"))
    assert [each.strip() for each in passed if each.strip()] == [b"data: a", b"data: bb", b"data: c"]


async def test_events_within_the_limit_are_taken_and_one_beyond_it_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(peer_limits, "LARGEST_EVENT", 20)
    small = b"data: 0123456789\n\n"
    assert b"".join(await taken([small * 9], PeerLimits("far"))) == small * 9
    for pieces in ([b"data: 0123456789012345\n\n"], [b"data: 0123456789", b"0123456789"]):
        with pytest.raises(PeerLimitExceeded, match=r"^The far agent sent one event of more than 20 bytes"):
            await taken(pieces, PeerLimits("far"))


async def test_values_are_counted_and_what_stands_in_strings_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_limits, "MOST_VALUES", 3)
    text = rb'{"text": "a, b, [c], {d}, \", e,"}'
    assert await taken([text], PeerLimits("far"), "application/json") == [text]
    with pytest.raises(PeerLimitExceeded, match=r"a card of more than 3 values.$"):
        await taken([b'{"a": [1, 2, 3]}'], PeerLimits("far", CARD), "application/json")

"""Where events end, however the stream is cut into pieces."""

from __future__ import annotations

import pytest

from utils.net.sse import EventEnds


def ends(*pieces: bytes) -> list[int]:
    """The ends in the whole stream."""
    found, before, splitter = list[int](), 0, EventEnds()
    for piece in pieces:
        found += [before + end for end in splitter.of(piece)]
        before += len(piece)
    return found


@pytest.mark.parametrize("blank", [b"\n\n", b"\r\r", b"\r\n\n"])
def test_an_event_ends_behind_its_blank_line_wherever_the_stream_is_cut(blank: bytes) -> None:
    stream = b"data: 1" + blank + b"data: 2" + blank + b"data: 3"
    first = len(b"data: 1" + blank)
    assert ends(stream) == [first, 2 * first]
    for cut in range(len(stream) + 1):
        assert ends(stream[:cut], stream[cut:]) == [first, 2 * first]
    assert ends(*(stream[at : at + 1] for at in range(len(stream)))) == [first, 2 * first]


@pytest.mark.parametrize("blank", [b"\n\r\n", b"\r\n\r\n"])
def test_a_blank_line_that_is_whole_before_its_last_byte_comes_ends_one_event(blank: bytes) -> None:
    stream = b"data: 1" + blank + b"data: 2"
    assert ends(stream) == [len(b"data: 1" + blank)]
    assert all(len(ends(stream[:cut], stream[cut:])) == 1 for cut in range(len(stream) + 1))


def test_the_end_of_one_line_ends_no_event() -> None:
    assert ends(b"data: 1\r\ndata: 2\n", b"data: 3\r", b"\ndata: 4") == []

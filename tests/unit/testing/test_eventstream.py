"""Frames of the event stream are what botocore reads, checksums included."""

from __future__ import annotations

import pytest
from botocore.eventstream import ChecksumMismatch, EventStreamBuffer

from utils.testing.strict.eventstream import event, exception


def parsed(data: bytes) -> list[tuple[dict[str, str], bytes]]:
    buffer = EventStreamBuffer()
    buffer.add_data(data)
    return [(message.headers, message.payload) for message in buffer]


def test_frames_carry_their_headers_and_payload():
    stream = event("messageStart", {"role": "assistant"}) + exception("throttlingException", "slow ü")
    (first, payload), (second, problem) = parsed(stream)
    assert first == {
        ":event-type": "messageStart",
        ":message-type": "event",
        ":content-type": "application/json",
    }
    assert payload == b'{"role": "assistant"}'
    assert second[":exception-type"] == "throttlingException"
    assert problem == b'{"message": "slow \\u00fc"}'


@pytest.mark.parametrize("position", [2, 20, -6, -1])
def test_a_damaged_frame_is_noticed(position):
    frame = bytearray(event("messageStop", {"stopReason": "end_turn"}))
    frame[position] ^= 1
    with pytest.raises(ChecksumMismatch):
        parsed(bytes(frame))

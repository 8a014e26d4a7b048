"""The stored form of a turn."""

import json

import pytest
from a2a.types.a2a_pb2 import SendMessageRequest

from tests.unit.tasks.events import said
from utils.a2a_common.tasks.turn import Turn, decode_turn, encode_turn

TURN = Turn(
    task_id="t",
    context_id="c",
    conversation='["", "ann"]/c',
    owner='["", "ann"]',
    request=SendMessageRequest(message=said("höre")),
    user="ann",
    extensions=frozenset({"urn:b", "urn:a"}),
    trace={"traceparent": "00-1-2-01"},
    judged=True,
    accepted_at=1.5,
    deadline=60.25,
)


def test_a_turn_comes_back_as_it_was_stored():
    assert decode_turn(encode_turn(TURN)) == TURN


def test_what_a_later_version_adds_is_ignored():
    fields = json.loads(encode_turn(TURN))
    fields["later"] = 1
    fields["request"]["later"] = {"deep": True}
    assert decode_turn(json.dumps(fields).encode()) == TURN


def test_what_an_earlier_version_did_not_store_has_its_default():
    fields = json.loads(encode_turn(TURN))
    del fields["trace"], fields["deadline"], fields["extensions"]
    assert (
        decode_turn(json.dumps(fields).encode()).deadline,
        decode_turn(json.dumps(fields).encode()).trace,
    ) == (
        None,
        {},
    )


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"request": {"message": 1}}'])
def test_what_is_no_turn_is_an_error(body):
    with pytest.raises(ValueError):
        decode_turn(body)

"""Which message repeats the request that its task began with."""

from __future__ import annotations

import pytest
from a2a.types.a2a_pb2 import Message, Part, Task

from utils.a2a_common.protocol.parts import data_part
from utils.a2a_common.protocol.repeated_request import repeats_request


def task(text: str) -> Task:
    return Task(id="t", history=[Message(message_id="first", parts=[Part(text=text)])])


def reply(text: str, *more: Part) -> Message:
    return Message(message_id="second", parts=[Part(text=text), *more])


@pytest.mark.parametrize(
    ("request_text", "reply_text"),
    [
        ("Book a meeting room for tomorrow", "book a meeting room, for tomorrow!"),
        ("Réserve une salle", "réserve  une salle."),
        ("明天下午三点请帮我预订会议室吧", "明天下午三点请帮我预订会议室吧。"),
    ],
)
def test_the_same_words_are_the_same_request(request_text: str, reply_text: str) -> None:
    assert repeats_request(reply(reply_text), task(request_text))


def test_other_words_short_words_and_filled_forms_may_be_answers() -> None:
    assert not repeats_request(reply("For ten people"), task("Book a meeting room for tomorrow"))
    assert not repeats_request(reply("Berlin"), task("Berlin"))
    assert not repeats_request(
        reply("Book a room please", data_part({"seats": 10})), task("Book a room please")
    )
    assert not repeats_request(reply("Book a room please"), Task(id="t"))


def test_the_first_message_does_not_repeat_itself() -> None:
    begun = task("Book a meeting room for tomorrow")
    assert not repeats_request(begun.history[0], begun)

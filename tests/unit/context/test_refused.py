"""A conversation without what its provider refused: pure."""

import base64

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from tests.property.context.media import pdf, png
from utils.context.compaction import Compaction
from utils.context.constraints import Constraint
from utils.context.pipeline import Parts, Request, prepare
from utils.context.policy import PRESETS
from utils.context.refused import (
    TURN_LEFT_OUT,
    Refused,
    accepted_messages,
    decisions_without,
    suspects,
    without_refused,
)
from utils.messages.counter import MessageCounter, with_count
from utils.messages.media.blocks import media_of
from utils.messages.media.named import name_in
from utils.messages.media.stored import media_handle

PICTURE = {
    "type": "image",
    "base64": base64.b64encode(png(60, 40, b"x")).decode(),
    "mime_type": "image/png",
}
REPORT = {
    "type": "file",
    "base64": base64.b64encode(pdf(1)).decode(),
    "mime_type": "application/pdf",
    "filename": "report.pdf",
}


def media(block):
    found = media_of(block)
    assert found is not None
    return found


HANDLE = media_handle(media(PICTURE))
SIZE = len(base64.b64decode(PICTURE["base64"]))


def said(text, message_id, *blocks):
    return HumanMessage([{"type": "text", "text": text}, *blocks] if blocks else text, id=message_id)


def answered(text, message_id, *calls):
    return with_count(
        AIMessage(text, id=message_id, tool_calls=[{"id": c, "name": "get", "args": {}} for c in calls]), 10
    )


def result(call, *blocks):
    content = [{"type": "text", "text": "found"}, *blocks] if blocks else "found"
    return ToolMessage(content, tool_call_id=call, name="get", id=f"result-{call}")


TALK = [
    said("One", "u1"),
    answered("First.", "a1"),
    said("Two", "u2"),
    answered("", "a2", "c1", "c2"),
    result("c1"),
    result("c2"),
    AIMessage("What was found.", id="a3"),  # written without a model
    said("Three", "u3"),
]


def test_what_came_since_the_last_accepted_request_is_suspected():
    found = suspects([said("One", "u1", PICTURE), answered("Yes.", "a1"), said("Two", "u2", REPORT)])
    assert found.media == {media_handle(media(REPORT)): 'the file "report.pdf"'}
    assert (found.turns, found.user_text, found.tools) == (("u2",), True, ())


def test_a_result_within_a_turn_is_suspected_and_its_whole_turn_leaves():
    found = suspects([said("One", "u1"), answered("", "a1", "c1"), result("c1", PICTURE)])
    assert found.media == {HANDLE: "a picture"}
    assert (found.turns, found.user_text, found.tools) == (("u1",), False, ("get",))


def test_an_answer_that_no_model_wrote_shows_nothing_of_what_is_accepted():
    assert suspects(TALK).turns == ("u2", "u3")
    assert suspects(TALK).tools == ("get",)


def test_an_answered_turn_stays_to_which_a_graph_added_a_message():
    signed = [said("One", "u1"), answered("Yes.", "a1"), AIMessage("Yes. (signed)", id="a2")]
    assert suspects([*signed, said("Two", "u2")]).turns == ("u2",)
    assert suspects(signed).turns == ("u1",)


def test_where_the_turn_before_was_refused_too_older_pictures_are_suspected():
    older = [said("One", "u1", PICTURE), answered("Yes.", "a1")]
    assert suspects([*older, said("Two", "u2")]).media == {}
    found = suspects([*older, said(TURN_LEFT_OUT, "u2"), said("Three", "u3")])
    assert (found.media, found.turns) == ({HANDLE: "a picture"}, ("u2", "u3"))


def test_a_picture_is_called_by_the_name_that_stands_beside_it():
    text = f'The file "a.png" (image/png, {SIZE:,} bytes) came along.'
    assert suspects([said(text, "u1", PICTURE)]).media == {HANDLE: 'the file "a.png"'}
    other = f'The file "b.png" (image/png, {SIZE + 1:,} bytes) came along.\n\n{text}'
    assert name_in(other, media(PICTURE)) == "a.png"
    assert name_in("no name", media(PICTURE)) == ""


def test_a_name_is_one_plain_line():
    named = {**REPORT, "filename": 'a"\n(b)\u202e.pdf'}
    assert name_in("", media(named)).replace("_", "") == "a b.pdf"


def test_a_conversation_of_which_nothing_was_refused_is_the_same():
    assert all(old is new for old, new in zip(TALK, without_refused(TALK, Refused()), strict=True))
    decided = Compaction(through="a2", replaced={"u2": {"content": "x"}})
    assert decisions_without(decided, TALK, TALK, Refused()) is decided


def test_a_turn_that_was_refused_is_one_line():
    shown = without_refused([SystemMessage("s", id="s"), *TALK], Refused(turns=("u2",)))
    assert [message.id for message in shown] == ["s", "u1", "a1", "u2", "u3"]
    assert shown[3].content == TURN_LEFT_OUT


def test_a_picture_that_was_refused_is_a_line_wherever_it_stands():
    talk = [said("One", "u1", PICTURE, REPORT), answered("", "a1", "c1"), result("c1", PICTURE)]
    shown = without_refused(talk, Refused({HANDLE: 'the file "a.png"'}))
    line = {"type": "text", "text": '(The file "a.png" is left out: the model provider refused it.)'}
    assert shown[0].content == [{"type": "text", "text": "One"}, line, REPORT]
    assert shown[1] is talk[1]
    assert shown[2].content == [{"type": "text", "text": "found"}, line]
    assert talk[0].content[1] == PICTURE


def test_decisions_bring_nothing_back_that_was_refused():
    refused = Refused({HANDLE: "a picture"}, ("u2",))
    decided = Compaction(
        through="a2",
        written="w",
        written_through="a1",
        replaced={"u2": {"content": "clipped"}, "result-c1": {"content": "x"}, "u1": {"content": [PICTURE]}},
    )
    shown = without_refused(TALK, refused)
    changed = decisions_without(decided, TALK, shown, refused)
    assert (changed.through, changed.written_through) == ("u2", "a1")
    assert list(changed.replaced) == ["u1"]
    assert "is left out" in changed.replaced["u1"]["content"][0]["text"]
    assert decisions_without(changed, TALK, shown, refused) is changed


def test_what_is_left_out_survives_being_stored():
    refused = Refused().with_media({HANDLE: "a picture"}).with_turns(["u1", "u1"])
    assert Refused.from_state({"refused": refused.as_state()}) == refused
    assert Refused.from_state({}) == Refused()
    assert [m.id for m in accepted_messages({"messages": TALK, "refused": {"turns": ["u2"]}})] == [
        "u1",
        "a1",
        "u2",
        "u3",
    ]


@pytest.mark.parametrize("window", [8_000, 400])
async def test_a_request_holds_neither_the_turn_nor_a_rule_that_it_stated(window):
    talk = [said("Never say badword.", "u1"), AIMessage("badword", id="a1"), said("Two " * 500, "u2")]
    prepared = await prepare(
        Request(
            talk,
            SystemMessage("You help."),
            turn_start=True,
            pinned=(Constraint("Never say badword.", "u1"),),
            refused=Refused(turns=("u1",)),
        ),
        PRESETS["standard"](window),
        Parts(MessageCounter()),
    )
    assert "badword" not in str([prepared.all_messages(), prepared.artifacts, prepared.rules])
    assert prepared.report.violations == ()

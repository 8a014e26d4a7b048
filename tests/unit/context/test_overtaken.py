"""What holds of a compaction where turns came before it was stored."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.context.conversations import COUNTER, long_talk
from utils.context.compaction import Compaction
from utils.context.overtaken import brought_up

TALK = long_talk(6)
NOW = Compaction(through="f3", summary="An extract of turns 0 to 3. " * 30, given=("art_now",), count=2)
MADE = Compaction(
    through="f1",
    summary="A.",
    written="They spoke of two services.",
    written_through="f1",
    given=("art_made",),
)


def brought(made: Compaction, now: Compaction) -> Compaction:
    return brought_up(TALK, made, now, COUNTER)


def test_a_summary_stands_word_for_word_before_an_extract_of_what_left_the_view_since():
    kept = brought(MADE, NOW)
    assert (kept.through, kept.written, kept.written_through) == ("f3", MADE.written, "f1")
    assert kept.summary.startswith(f"{MADE.written}\n")
    assert "Question 3" in kept.summary
    assert "Question 1" not in kept.summary
    assert COUNTER.text(kept.summary) <= COUNTER.text(NOW.summary)
    assert (kept.given, kept.count) == (("art_now", "art_made"), 2)


def test_a_summary_as_long_as_may_be_is_shortened_together_with_what_followed():
    long = replace(MADE, written="They spoke of many services, one after the other. " * 40)
    kept = brought(long, NOW)
    assert kept.written == long.written
    assert "Question 3" in kept.summary
    assert COUNTER.text(kept.summary) <= COUNTER.text(long.written)


def test_where_a_request_had_no_room_for_a_summary_none_is_shown():
    kept = brought(MADE, replace(NOW, summary=""))
    assert (kept.summary, kept.written) == ("", MADE.written)


def test_decisions_that_go_further_than_those_of_now_are_taken():
    further = replace(MADE, through="f4", written_through="f4", summary=MADE.written)
    kept = brought(further, NOW)
    assert (kept.through, kept.summary, kept.written_through) == ("f4", MADE.written, "f4")


def test_a_newer_summary_is_not_replaced_by_an_older_one():
    newer = replace(NOW, written="A newer summary.", written_through="f2")
    kept = brought(MADE, newer)
    assert (kept.written, kept.written_through, kept.summary) == ("A newer summary.", "f2", newer.summary)


def test_an_extract_that_no_model_wrote_replaces_nothing():
    kept = brought(replace(MADE, written="", written_through=None), NOW)
    assert (kept.through, kept.summary, kept.written) == ("f3", NOW.summary, "")


def test_results_cleared_ahead_stay_cleared_and_what_a_request_showed_stays_as_it_was_shown():
    cleared = {"result-c0x0": {"content": "gone"}, "result-c5x0": {"content": "cleared"}}
    now = replace(NOW, replaced={"a5": {"content": "shown"}, "result-c4x0": {"content": "shown"}})
    kept = brought(Compaction(replaced={**cleared, "result-c4x0": {"content": "cleared"}}), now)
    assert kept.replaced == {
        "result-c5x0": {"content": "cleared"},
        "a5": {"content": "shown"},
        "result-c4x0": {"content": "shown"},
    }


def test_nothing_holds_of_a_conversation_that_was_forgotten_since():
    assert brought(replace(MADE, through="unknown"), NOW) is NOW
    assert brought(Compaction(replaced={"unknown": {"content": "cleared"}}), NOW) is NOW

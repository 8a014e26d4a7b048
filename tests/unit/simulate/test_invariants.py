"""Each invariant of the simulator is seen to fail, so that its silence means something."""

from __future__ import annotations

from benchmarks.simulate.facts import Facts, Reading, Request, Run, Stored
from benchmarks.simulate.invariants import violations
from benchmarks.simulate.view import Chunk, Seen, Snapshot, Status

WHOLE = (("m.0", "0a;1b;"),)
EVENTS: tuple[Seen, ...] = (
    Snapshot("submitted"),
    Status("working"),
    Chunk("m.0", "0a;", append=False),
    Chunk("m.0", "1b;", append=True),
    Status("completed"),
)


def good(*, events: tuple[Seen, ...] = EVENTS, state: str = "completed", text: str = "0a;1b;") -> Facts:
    return Facts(
        stored=[Stored("t", Snapshot(state, (("m.0", text),)), EVENTS, ("m",))],
        readings=[Reading("r", "t", "p1", list(events), ended=True)],
        runs=[Run("m", "t", "p1", "returned")],
        requests=[Request("m", ["t"], accepted=True, artifacts=WHOLE)],
    )


def names(facts: Facts) -> set[str]:
    return {each.partition(":")[0] for each in violations(facts)}


def test_what_should_be_breaks_nothing():
    assert violations(good()) == []


def test_an_event_after_the_end_is_found_in_the_store_and_at_a_reader():
    facts = good()
    facts.stored[0] = Stored("t", facts.stored[0].snapshot, (*EVENTS, Status("failed")), ("m",))
    assert names(facts) == {"one_end"}
    assert "one_end" in names(good(events=(*EVENTS, Status("failed"))))


def test_a_lost_or_doubled_event_of_a_reader_is_found():
    lost, doubled = (*EVENTS[:3], EVENTS[4]), (*EVENTS[:4], *EVENTS[3:])
    assert names(good(events=lost)) == names(good(events=doubled)) == {"readers_agree"}


def test_a_chunk_whose_beginning_was_lost_is_found_also_where_the_reader_left():
    facts = good(events=(*EVENTS[:2], EVENTS[3]))
    facts.readings[0].ended = False
    assert names(facts) == {"readers_agree"}


def test_a_reader_that_left_need_not_have_read_everything():
    facts = good(events=EVENTS[:3])
    facts.readings[0].ended = False
    assert violations(facts) == []


def test_a_task_whose_storage_failed_may_lack_what_was_read():
    end = Status("failed", "storage")
    facts = good(events=(*EVENTS[:4], end))
    facts.stored[0] = Stored(
        "t", Snapshot("failed", (("m.0", "0a;"),), "storage"), (*EVENTS[:3], end), ("m",)
    )
    assert violations(facts) == []


def test_an_end_that_a_lost_process_could_not_store_may_be_another_one_unless_it_says_completed():
    facts = good(events=(*EVENTS[:4], Status("failed", "storage")))
    facts.lost_processes.add("p1")
    assert names(facts) == {"readers_agree"}
    facts.unstored.add("p1")
    assert violations(facts) == []
    facts.readings.append(Reading("r", "t", "p1", [*EVENTS[:3], Status("completed")], ended=True))
    assert names(facts) == {"readers_agree"}


def test_an_end_may_be_another_one_where_another_process_took_that_task_over_before_it_was_stored():
    facts = good(events=(*EVENTS[:4], Status("failed", "storage")))
    facts.taken_over.add(("p1", "another task"))
    assert names(facts) == {"readers_agree"}
    facts.taken_over.add(("p1", "t"))
    assert violations(facts) == []
    facts.readings.append(Reading("r", "t", "p1", [*EVENTS[:3], Status("completed")], ended=True))
    assert names(facts) == {"readers_agree"}


def test_a_completed_task_without_a_piece_of_its_answer_is_found():
    facts = good(state="completed", text="0a;")
    facts.readings.clear()
    assert names(facts) == {"stored_is_whole"}


def test_a_text_of_two_attempts_is_found():
    facts = good(text="0a;0a;1b;")
    facts.readings.clear()
    assert "stored_is_whole" in names(facts)


def test_a_task_without_end_and_an_accepted_message_without_task_are_found():
    working = good(state="working")
    working.readings.clear()
    assert names(working) == {"accepted_ends"}
    lost = good()
    lost.requests.append(Request("n", ["u"], accepted=True))
    assert names(lost) == {"accepted_ends"}
    left = good()
    left.left_runs.append("t")
    assert names(left) == {"accepted_ends"}


def test_a_message_that_ran_twice_is_found_unless_a_process_was_lost_between():
    facts = good()
    facts.runs.append(Run("m", "t", "p1", "returned"))
    assert names(facts) == {"runs_once"}
    elsewhere = good()
    elsewhere.runs.append(Run("m", "t", "p2", "returned"))
    assert names(elsewhere) == {"runs_once"}
    elsewhere.lost_processes.add("p1")
    assert violations(elsewhere) == []


def test_a_repeated_message_that_became_a_second_task_is_found_unless_the_first_failed():
    facts = good()
    facts.stored.append(Stored("u", Snapshot("completed", WHOLE), EVENTS, ("m",)))
    facts.requests = [Request("m", ["t", "u"], accepted=True, artifacts=WHOLE)]
    assert names(facts) == {"runs_once"}


def test_a_message_that_is_twice_in_the_history_is_found():
    facts = good()
    facts.stored[0] = Stored("t", facts.stored[0].snapshot, EVENTS, ("m", "m"))
    assert names(facts) == {"history_is_once"}


def test_an_error_that_nobody_handled_is_found():
    facts = good()
    facts.unhandled.append("boom")
    assert names(facts) == {"nothing_unhandled"}

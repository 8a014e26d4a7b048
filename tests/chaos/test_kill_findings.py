"""What the drivers that kill, lock and load notice: each count is seen above zero, so that its zero means something."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.chaos_kill.deal import AT_ONCE_AFTER_BEGIN, ELSEWHERE, GROUPS, KINDS, Turn, deal
from benchmarks.chaos_kill.tally import Tally
from benchmarks.profile import THREADS, room_of
from benchmarks.service.client import COMPLETED, FAILED, Seen
from benchmarks.service.doors import JSONRPC
from benchmarks.service.script import ASK, SAY, TOOLS, WORK, Order, orders_in
from benchmarks.storage_faults.faults import PAGE, damage_pages
from benchmarks.storage_faults.tally import Tally as StorageTally

ORDER = Order("1.0", WORK)
TURN = Turn(ORDER, JSONRPC, streamed=True, kill="", pause=0.1)


def seen(text: str = ORDER.answer, stored: str | None = None, **more: object) -> Seen:
    return Seen(
        **{
            "task_id": "t",
            "state": COMPLETED,
            "text": text,
            "stored": stored or text,
            "ended": time.monotonic(),
        }
        | more  # type: ignore[arg-type]
    )


def test_the_same_seed_deals_the_same_and_every_kind_of_kill_is_dealt_where_a_turn_comes() -> None:
    dealt = deal(300, 3)
    assert dealt == deal(300, 3) != deal(300, 4)
    hit = [turn for turns in dealt for turn in turns if turn.kill]
    assert {turn.kill for turn in hit} == set(KINDS)
    placed = [turn for turn in hit if KINDS[turn.kill].group != ELSEWHERE]
    assert len(placed) >= len(hit) / 2
    for turn in hit:
        if KINDS[turn.kill].place in {"tool begins", "in tool", "worker stream"}:
            assert turn.order.kind in TOOLS
        if KINDS[turn.kill].place not in {"question", AT_ONCE_AFTER_BEGIN, "supervisor stream"}:
            assert turn.order.kind != ASK, "it may end with a question before it comes there"


def test_an_order_is_read_back_from_its_text() -> None:
    order = Order("3.1", SAY, 20, 5)
    assert orders_in(f"Please: {order.text}") == [order]


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        (seen("Answer 1.0: not done."), "incomplete"),
        (seen(ORDER.answer, "Answer 1.0:"), "incomplete"),
        (seen(state=FAILED), "incomplete"),
        (seen(state="TASK_STATE_WORKING"), "stuck"),
    ],
)
def test_an_answer_that_is_not_whole_in_stream_and_store_is_counted(found: Seen, wrong: str) -> None:
    tally = Tally()
    tally.check(TURN, seen())
    assert not tally.wrong
    tally.check(TURN, found)
    assert tally.wrong == {wrong: 1}


def test_an_effect_that_is_there_twice_is_doubled() -> None:
    tally = Tally()
    tally.check_effects(["a", "b", "a", "a"])
    assert tally.wrong == {"doubled": 2}


def test_a_turn_whose_process_was_killed_three_times_may_fail_and_one_that_was_killed_twice_may_not() -> None:
    tally = Tally()
    began = time.monotonic()
    for number in range(3):
        tally.killed(GROUPS[0], ("worker", "model"), began + 0.1 * (number + 1))
    failed = seen(state=FAILED, began=began, ended=began + 0.25)
    tally.check(TURN, failed)
    assert (tally.overkilled, tally.wrong.total()) == (0, 1)
    failed.ended = began + 1
    tally.check(TURN, failed)
    assert (tally.overkilled, tally.wrong.total()) == (1, 1)


def test_an_effect_is_there_twice_only_of_a_turn_that_was_killed_three_times_and_sent_again() -> None:
    tally = Tally()
    began = time.monotonic()
    for number in range(3):
        tally.killed(GROUPS[0], ("supervisor",), began + 0.1 * (number + 1))
    tally.check(TURN, seen(began=began, ended=began + 0.25))
    tally.check_effects([ORDER.key, ORDER.key])
    assert (tally.overkilled, dict(tally.wrong)) == (0, {"doubled": 1})
    tally.check(TURN, seen(began=began, ended=began + 1))
    tally.check_effects([ORDER.key, ORDER.key])
    assert (tally.overkilled, dict(tally.wrong)) == (1, {"doubled": 1})


def test_a_run_whose_kills_hit_nothing_does_not_pass() -> None:
    tally = Tally()
    tally.turns = 100
    assert not tally.passed()
    tally.killed(ELSEWHERE, ("worker",), 0.0)
    assert not tally.passed()
    tally.killed("in_tool", ("worker",), 0.0)
    assert tally.passed()
    tally.overkilled = 6
    assert not tally.passed()


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        (seen(ORDER.answer.replace(" w5", "")), "missing"),
        (seen(ORDER.answer, ORDER.answer.replace(" w5", "")), "missing"),
        (seen(state="TASK_STATE_WORKING"), "stuck"),
        (seen(state=FAILED, said="No."), "vague"),
        (seen(state=FAILED, code="storage_failed"), "vague"),
    ],
)
def test_a_missing_piece_and_a_failure_without_code_or_sentence_are_counted(found: Seen, wrong: str) -> None:
    tally = StorageTally()
    tally.check("a fault", ORDER, seen())
    tally.check("a fault", ORDER, seen(state=FAILED, said="No.", code="storage_failed"))
    assert not tally.wrong
    tally.check("a fault", ORDER, found)
    assert tally.wrong == {wrong: 1}


def test_damaged_pages_are_those_that_are_named_and_one_alone_is_the_first(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE t (x)")
        database.execute("INSERT INTO t VALUES (?)", ("x" * 10 * PAGE,))
    before = path.read_bytes()
    chosen = damage_pages(path, 2, 1)
    changed = [
        at // PAGE + 1
        for at in range(0, len(before), PAGE)
        if path.read_bytes()[at : at + PAGE] != before[at : at + PAGE]
    ]
    assert changed == chosen
    assert damage_pages(path, 1, 1) == [1]


def test_a_sample_belongs_to_its_innermost_frame_with_a_room() -> None:
    library, model = "site-packages/httpx/_client.py:send:1", "/x/site-packages/openai/_base_client.py:post:1"
    assert room_of([library, model, "/x/utils/a2a_common/execution/executor.py:_run:1"]) == "model client"
    assert room_of(["selectors.py:EpollSelector.select:451", model]) == THREADS

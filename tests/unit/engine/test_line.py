"""The order in which accepted turns begin."""

from __future__ import annotations

from utils.a2a_common.engine.line import Line


def joined(line: Line, *turns: tuple[str, str]) -> list[str]:
    for task_id, conversation in turns:
        line.join(task_id, conversation)
    return line.next()


def test_turns_of_one_conversation_begin_one_after_the_other_in_their_order() -> None:
    line = Line(10, 10)
    assert joined(line, ("a", "x"), ("b", "x"), ("c", "y"), ("d", "x")) == ["a", "c"]
    line.leave("a")
    assert line.next() == ["b"]
    line.leave("b")
    assert line.next() == ["d"]


def test_no_more_turns_run_than_may_and_the_oldest_begins_first() -> None:
    line = Line(2, 10)
    assert joined(line, ("a", "x"), ("b", "y"), ("c", "z"), ("d", "x")) == ["a", "b"]
    assert line.next() == []
    line.leave("b")
    assert line.next() == ["c"]
    line.leave("a")
    assert line.next() == ["d"]
    assert (line.running, line.waiting) == (2, 0)


def test_a_conversation_that_waits_for_itself_holds_no_place_of_others() -> None:
    line = Line(2, 10)
    assert joined(line, ("a", "x"), ("b", "x"), ("c", "x"), ("d", "y")) == ["a", "d"]


def test_the_line_is_bounded_and_a_turn_that_begins_at_once_needs_no_place_in_it() -> None:
    line = Line(2, 1)
    assert line.takes("x")
    joined(line, ("a", "x"))
    assert line.takes("x")
    joined(line, ("b", "x"))
    assert not line.takes("x")
    assert line.takes("y")
    joined(line, ("c", "y"))
    assert not line.takes("z")


def test_a_turn_leaves_the_line_without_having_run() -> None:
    line = Line(1, 10)
    joined(line, ("a", "x"), ("b", "y"), ("c", "z"))
    line.leave("b")
    line.leave("a")
    assert line.next() == ["c"]

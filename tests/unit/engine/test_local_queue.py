"""The order in which accepted turns begin."""

from __future__ import annotations

from utils.a2a_common.engine.local_queue import LocalQueue


def joined(queue: LocalQueue, *turns: tuple[str, str]) -> list[str]:
    for task_id, conversation in turns:
        queue.join(task_id, conversation)
    return queue.begin_next()


def test_turns_of_one_conversation_begin_one_after_the_other_in_their_order() -> None:
    queue = LocalQueue(10, 10)
    assert joined(queue, ("a", "x"), ("b", "x"), ("c", "y"), ("d", "x")) == ["a", "c"]
    queue.remove("a")
    assert queue.begin_next() == ["b"]
    queue.remove("b")
    assert queue.begin_next() == ["d"]


def test_no_more_turns_run_than_may_and_the_oldest_begins_first() -> None:
    queue = LocalQueue(2, 10)
    assert joined(queue, ("a", "x"), ("b", "y"), ("c", "z"), ("d", "x")) == ["a", "b"]
    assert queue.begin_next() == []
    queue.remove("b")
    assert queue.begin_next() == ["c"]
    queue.remove("a")
    assert queue.begin_next() == ["d"]
    assert (queue.running, queue.waiting) == (2, 0)


def test_a_conversation_that_waits_for_itself_holds_no_place_of_others() -> None:
    queue = LocalQueue(2, 10)
    assert joined(queue, ("a", "x"), ("b", "x"), ("c", "x"), ("d", "y")) == ["a", "d"]


def test_the_line_is_bounded_and_a_turn_that_begins_at_once_needs_no_place_in_it() -> None:
    queue = LocalQueue(2, 1)
    assert queue.has_room("x")
    joined(queue, ("a", "x"))
    assert queue.has_room("x")
    joined(queue, ("b", "x"))
    assert not queue.has_room("x")
    assert queue.has_room("y")
    joined(queue, ("c", "y"))
    assert not queue.has_room("z")


def test_a_turn_leaves_the_line_without_having_run() -> None:
    queue = LocalQueue(1, 10)
    joined(queue, ("a", "x"), ("b", "y"), ("c", "z"))
    queue.remove("b")
    queue.remove("a")
    assert queue.begin_next() == ["c"]

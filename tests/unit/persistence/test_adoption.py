"""Which conversations are given to another owner, and in which order what is stored of them is moved."""

from __future__ import annotations

from utils.persistence.adoption import Heir, planned, planned_moves

HEIR = Heir('["", ""]', '["", "api-key ann"]', "api-key ann", "", lambda owner, context: f"{owner} {context}")


def test_a_conversation_stays_where_a_turn_has_not_ended_or_the_id_is_taken() -> None:
    owned = [("1", "a"), ("2", "a"), ("3", "busy"), ("4", "busy"), ("5", "taken")]
    tasks = [(task, context, HEIR.before) for task, context in owned]
    plan = planned(HEIR, [*tasks, ("6", "taken", HEIR.after), ("7", "other", "[]")], {"4"})
    assert plan.tasks == {"a": ["1", "2"]}
    assert plan.left == ["busy", "taken"]


def test_the_tasks_are_moved_last_so_that_a_run_that_was_killed_is_done_again() -> None:
    found = planned_moves(planned(HEIR, [("1", "a", HEIR.before), ("2", "b", HEIR.before)], set()), HEIR)
    files = [move.table.file for move in found]
    assert files[-1] == "tasks.sqlite"
    assert files.index("tasks.sqlite") == len(files) - files.count("tasks.sqlite")
    assert found[-1].table.name == "tasks"


def test_what_other_agents_have_of_a_conversation_is_known_before_and_after_the_move() -> None:
    remote = [(f"{HEIR.before} a", "x", "1"), (f"{HEIR.before} b", "x/c", "2"), ("[] a", "x", "3")]
    for owner in (HEIR.before, HEIR.after):
        tasks = [("1", "a", owner), ("2", "b", owner)]
        there = [(thread.replace(HEIR.before, owner), agent, context) for thread, agent, context in remote]
        elsewhere = planned(HEIR, tasks, set(), there).elsewhere
        assert (elsewhere.theirs, elsewhere.others) == ({"x": ["1", "2"]}, {"x": ["3"]})
    left = planned(HEIR, [("1", "a", HEIR.before)], {"1"}, remote).elsewhere
    assert left.theirs == {}

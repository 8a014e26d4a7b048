"""Which conversations are given to another owner, and in which order what is stored of them is moved."""

from __future__ import annotations

from utils.persistence.adoption import Heir, planned, statements

HEIR = Heir('["", ""]', '["", "api-key ann"]', "api-key ann", "", lambda owner, context: f"{owner} {context}")


def test_a_conversation_stays_where_a_turn_has_not_ended_or_the_id_is_taken() -> None:
    owned = [("1", "a"), ("2", "a"), ("3", "busy"), ("4", "busy"), ("5", "taken")]
    plan = planned(owned, {"taken"}, {"4"})
    assert plan.tasks == {"a": ["1", "2"]}
    assert plan.left == ["busy", "taken"]


def test_the_tasks_are_moved_last_so_that_a_run_that_was_killed_is_done_again() -> None:
    found = statements(planned([("1", "a"), ("2", "b")], set(), set()), HEIR)
    files = [table.file for table, _, _ in found]
    assert files[-1] == "tasks.sqlite"
    assert files.index("tasks.sqlite") == len(files) - files.count("tasks.sqlite")
    assert found[-1][0].name == "tasks"

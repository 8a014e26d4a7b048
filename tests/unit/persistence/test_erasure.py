"""What is erased of a person is decided by owners and threads, and told in lines."""

from __future__ import annotations

from multi_agents.cli.commands.erase import lines_of
from utils.persistence.erasure import DataSubject, planned, removals

ANN, BELOW, BOB = '["", "ann"]', '["", "supervisor ann"]', '["", "bob"]'
TASKS = [("t1", "c1", ANN), ("t2", "c1", ANN), ("t3", "c2", BELOW), ("t4", "c1", BOB)]
PERSON = DataSubject([ANN, BELOW], lambda owner, context: f"{owner}/{context}")


def test_conversations_of_another_stay_also_where_they_have_the_same_id():
    plan = planned(PERSON, TASKS, set())
    assert dict(plan.conversations) == {(ANN, "c1"): ["t1", "t2"], (BELOW, "c2"): ["t3"]}
    assert plan.others == {BOB}
    values = {value for removal in removals(plan, PERSON) for value in removal.values}
    assert values == {ANN, BELOW, "c1", "c2", "t1", "t2", "t3", f"{ANN}/c1", f"{BELOW}/c2"}


def test_a_conversation_with_a_turn_under_way_stays_whole():
    plan = planned(PERSON, TASKS, {"t2"})
    assert dict(plan.conversations) == {(BELOW, "c2"): ["t3"]}
    assert plan.left == ["c1"]


def test_rows_found_by_a_context_or_an_owners_task_name_the_owner_too():
    for removal in removals(planned(PERSON, TASKS, set()), PERSON):
        assert "context_id" not in removal.where or "owner" in removal.where


def test_the_tasks_go_last_so_that_a_killed_run_is_repeated():
    files = [removal.table.file for removal in removals(planned(PERSON, TASKS, set()), PERSON)]
    first = files.index("tasks.sqlite")
    assert set(files[first:]) == {"tasks.sqlite"}
    assert first > 0


def test_agents_that_were_told_something_are_named_unless_they_are_ours():
    remote = [(f"{ANN}/c1", "weather", "w1"), (f"{ANN}/c1", "github/2", "g1"), (f"{BOB}/c1", "maps", "m1")]
    plan = planned(PERSON, TASKS, set(), remote)
    assert plan.elsewhere == ["github", "weather"]
    told = {
        "agent": "platform-engineer",
        "conversations": ["c1"],
        "left": ["c9"],
        "out_of_sight": 0,
        "counts": {"memories": 2},
        "elsewhere": plan.elsewhere,
        "tenants": ["acme"],
    }
    assert lines_of([told], {"github"}, 1, "erased") == [
        "platform-engineer erased: conversations 1, memories 2",
        "  c9  left: a turn of it is under way",
        "  also known in the tenant acme: run this with --tenant acme",
        "  weather runs elsewhere, and may still have what it was told",
        "API keys erased: 1",
    ]

"""What the tree and the plan of an ended task show."""

from __future__ import annotations

from utils.a2a_common.protocol.extensions import ACTIVITY_PLAN, TREE_EXTENSION
from utils.a2a_common.protocol.left_open import closed_metadata


def _step(number: int, status: str) -> dict[str, object]:
    return {"id": f"s{number}", "title": "Look", "agent": "keys", "status": status, "order": 1}


def test_open_children_at_any_depth_and_open_steps_are_canceled_and_the_rest_stays() -> None:
    below = [{"call_id": "c2", "state": "working"}, {"call_id": "c3", "state": "failed"}]
    tree = {"seconds": 1.0, "children": [{"call_id": "c1", "state": "input-required", "children": below}]}
    plan = {"steps": [_step(1, "completed"), _step(2, "working"), _step(3, "pending")]}
    closed = closed_metadata({TREE_EXTENSION: tree, ACTIVITY_PLAN: plan, "urn:other": {"state": "working"}})
    (child,) = closed[TREE_EXTENSION]["children"]
    assert closed[TREE_EXTENSION]["seconds"] == 1.0
    assert [child["state"], *(each["state"] for each in child["children"])] == [
        "canceled",
        "canceled",
        "failed",
    ]
    assert [step["status"] for step in closed[ACTIVITY_PLAN]["steps"]] == [
        "completed",
        "canceled",
        "canceled",
    ]
    assert set(closed) == {TREE_EXTENSION, ACTIVITY_PLAN}


def test_what_is_closed_or_malformed_is_left_as_it_is() -> None:
    done = {"children": [{"call_id": "c1", "state": "completed"}]}
    assert closed_metadata({TREE_EXTENSION: done, ACTIVITY_PLAN: {"steps": [_step(1, "failed")]}}) == {}
    assert closed_metadata({TREE_EXTENSION: {"children": "none"}, ACTIVITY_PLAN: {"steps": 3}}) == {}
    assert closed_metadata({}) == {}

"""Closes what the tree and the plan of a task still show as open when the task ends. Pure.

A task that has ended leaves no work running: what it had begun at other agents is canceled with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from utils.a2a_common.protocol.extensions import ACTIVITY_PLAN, TREE_EXTENSION, parse_plan, plan_payload
from utils.events import DelegationState, PlanUpdated, StepStatus

KEYS = (TREE_EXTENSION, ACTIVITY_PLAN)
"""Keys of a task's metadata that show what is open."""

_OPEN_STATES = (
    DelegationState.SUBMITTED,
    DelegationState.WORKING,
    DelegationState.INPUT_REQUIRED,
    DelegationState.AUTH_REQUIRED,
)
_OPEN_STEPS = (StepStatus.PENDING, StepStatus.WORKING)


def closed_metadata(known: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a task's metadata that show something open, closed; the others are left out."""
    found: dict[str, Any] = {}
    tree, plan = known.get(TREE_EXTENSION), known.get(ACTIVITY_PLAN)
    if isinstance(tree, Mapping):
        children = _closed_children(tree.get("children"))
        if children != tree.get("children") and children:
            found[TREE_EXTENSION] = {**tree, "children": children}
    steps = parse_plan(plan) if isinstance(plan, Mapping) else None
    closed = closed_plan(steps) if steps else None
    if closed is not None:
        found[ACTIVITY_PLAN] = plan_payload(closed)
    return found


def closed_plan(plan: PlanUpdated) -> PlanUpdated | None:
    """The plan with its open steps canceled; `None` where none is open."""
    if not any(step.status in _OPEN_STEPS for step in plan.steps):
        return None
    return PlanUpdated(
        [
            replace(step, status=StepStatus.CANCELED) if step.status in _OPEN_STEPS else step
            for step in plan.steps
        ]
    )


def _closed_children(children: object) -> list[Any]:
    if not isinstance(children, Sequence) or isinstance(children, str):
        return []
    return [_closed_child(each) if isinstance(each, Mapping) else each for each in children]


def _closed_child(child: Mapping[str, Any]) -> dict[str, Any]:
    closed = dict(child)
    if child.get("state") in _OPEN_STATES:
        closed["state"] = DelegationState.CANCELED.value
    if "children" in child:
        closed["children"] = _closed_children(child["children"])
    return closed

"""The tree of tasks below a task, kept in its metadata, so that one request shows all of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from utils.a2a_common.protocol.extensions import TREE_EXTENSION
from utils.events import (
    AgentEvent,
    DelegationFinished,
    DelegationProgress,
    DelegationStarted,
    DelegationState,
)

_DEEPEST = 8
_MOST = 100
_LONGEST = 120
_EARLIER = "earlier_seconds"


class TaskTree:
    """The tasks below one task, collected from the events of its turns.

    Args:
        parent_task_id: Task of the agent that delegated; empty for a user's own.
        before: The earlier state of the tree: the payload in the task's metadata.
        gone_by: Seconds since this turn began, in a process that died; `None` for a turn that begins now.
    """

    def __init__(
        self,
        parent_task_id: str = "",
        before: Mapping[str, Any] | None = None,
        *,
        gone_by: float | None = None,
    ) -> None:
        known = before or {}
        self._parent = parent_task_id or str(known.get("parent_task_id", ""))
        # during a turn, `seconds` includes a part of this turn; the sum of the earlier turns is stored beside it
        last = _EARLIER if gone_by is not None and _EARLIER in known else "seconds"
        self._seconds = _number(known.get(last))
        self._started = time.monotonic() - (gone_by or 0.0)
        children = clean_children(known.get("children"))
        self._children: dict[str, dict[str, Any]] = {str(each.get("call_id")): each for each in children}
        self._changed = bool(self._parent)

    def note(self, event: AgentEvent) -> None:
        """Take in an event of the turn."""
        match event:
            case DelegationStarted():
                child = self._children.setdefault(event.call_id, {"call_id": event.call_id, "seconds": 0.0})
                child.setdefault("request", event.request[:_LONGEST])
                child |= {"agent": event.agent, "state": DelegationState.WORKING.value}
            case DelegationProgress() if event.call_id in self._children:
                child = self._children[event.call_id]
                if child.get("task_id") == event.remote_task_id:
                    return
                child["task_id"] = event.remote_task_id
            case DelegationFinished() if event.call_id in self._children:
                child = self._children[event.call_id]
                child |= {"task_id": event.remote_task_id, "state": event.state.value, **(event.below or {})}
                child["seconds"] = round(_number(child.get("seconds")) + event.seconds, 3)
            case _:
                return
        self._changed = True

    def facts(self, *, ends: bool) -> dict[str, Any]:
        """The metadata for the next status: empty if nothing changed and the turn continues."""
        if not self._changed and not ends:
            return {}
        self._changed = False
        seconds = round(self._seconds + time.monotonic() - self._started, 3)
        tree = {"seconds": seconds, "children": list(self._children.values())}
        if not ends:
            tree[_EARLIER] = round(self._seconds, 3)
        if self._parent:
            tree["parent_task_id"] = self._parent
        return {TREE_EXTENSION: tree}


@dataclass(frozen=True, slots=True)
class SubTasks:
    """The tasks that a task caused at other agents, at any depth, as its agent reported them.

    Attributes:
        children: One mapping for each: `call_id`, `agent`, `task_id`, `state`, `request`, `seconds`, `tokens`, `children`.
        parent_task_id: The delegating agent's reference to its own task; empty for a user's task.
        seconds: How long the task was worked on, where that is known.
    """

    children: Sequence[Mapping[str, Any]] = ()
    parent_task_id: str = ""
    seconds: float | None = None


def parse_tree(payload: object) -> SubTasks:
    """The tree in a peer's data, with what is malformed, too deep or too many left out."""
    known = payload if isinstance(payload, Mapping) else {}
    seconds = known.get("seconds")
    return SubTasks(
        clean_children(known.get("children")),
        str(known.get("parent_task_id") or "")[:_LONGEST],
        float(seconds) if isinstance(seconds, int | float) else None,
    )


def clean_children(value: object, depth: int = _DEEPEST) -> list[dict[str, Any]]:
    """The sub-tasks in a peer's data, with what is malformed, too deep or too many left out."""
    if depth == 0 or not isinstance(value, Sequence) or isinstance(value, str | bytes):
        return []
    return [_clean(each, depth) for each in value if isinstance(each, Mapping)][:_MOST]


def _clean(child: Mapping[str, Any], depth: int) -> dict[str, Any]:
    texts = ("call_id", "agent", "task_id", "state", "request")
    kept: dict[str, Any] = {name: str(child[name])[:_LONGEST] for name in texts if name in child}
    kept["seconds"] = _number(child.get("seconds"))
    tokens = child.get("tokens")
    if isinstance(tokens, Mapping):
        kept["tokens"] = {str(name)[:_LONGEST]: _number(number) for name, number in list(tokens.items())[:10]}
    if below := clean_children(child.get("children"), depth - 1):
        kept["children"] = below
    return kept


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0

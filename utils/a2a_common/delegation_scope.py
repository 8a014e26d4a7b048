"""What a delegating agent tells with a request: the part of its context that the sub-agent needs.

Never the parent's messages. It travels as a data part of the A2A message, under the scope
extension's URI. What arrives is a peer's data: parsed leniently, lengths capped, never trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from utils.a2a_common.activity import SCOPE_EXTENSION

_LONGEST_TEXT = 8_000


@dataclass(frozen=True, slots=True)
class DelegationScope:
    """The scoped context of one delegated sub-task.

    Attributes:
        original_request: What the user asked the parent.
        subtask_index: Position of this sub-task, from 1.
        total_subtasks: How many the parent delegated together.
        parent_task_id: A2A task of the parent.
        deadline_seconds: Seconds that the parent waits for this task, where it has a limit.
    """

    original_request: str
    subtask_index: int
    total_subtasks: int
    parent_task_id: str
    deadline_seconds: float | None = None

    def to_payload(self) -> dict[str, Any]:
        """The data part that carries this scope."""
        fields = {name: value for name, value in asdict(self).items() if value is not None}
        return {SCOPE_EXTENSION: fields}


def find_scope(data: Sequence[Mapping[str, Any]]) -> DelegationScope | None:
    """The scope among a message's data parts, or `None` for a request that no agent delegated."""
    for part in data:
        payload = part.get(SCOPE_EXTENSION)
        if isinstance(payload, Mapping):
            return _parse(payload)
    return None


def _parse(payload: Mapping[str, Any]) -> DelegationScope | None:
    try:
        deadline = payload.get("deadline_seconds")
        return DelegationScope(
            original_request=str(payload["original_request"])[:_LONGEST_TEXT],
            subtask_index=int(payload["subtask_index"]),
            total_subtasks=int(payload["total_subtasks"]),
            parent_task_id=str(payload["parent_task_id"])[:256],
            deadline_seconds=None if deadline is None else float(deadline),
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        return None

"""What a store holds of a task, for the invariants."""

from __future__ import annotations

from benchmarks.simulate.view import Seen, seen_of
from utils.a2a_common.tasks.stored_form import entry_of
from utils.persistence.task_log_store import TaskLogStore


async def stored_events(store: TaskLogStore, task: str) -> tuple[Seen, ...]:
    """All events of a task that are stored, in order."""
    records = await store.events(task, after=0, limit=1_000_000)
    return tuple(seen_of(entry_of(record, task, "").event) for record in records)

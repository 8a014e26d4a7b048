"""Tracks tasks with an active turn in this process."""

from __future__ import annotations


class Turns:
    """At most one turn per task: a message to a working task is refused, not lost.

    The SDK queues a second message behind the first turn and forgets it when that turn ends.
    """

    def __init__(self) -> None:
        self._reserved: set[str] = set()
        self._running: set[str] = set()

    def reserve(self, task_id: str) -> bool:
        """Keep `task_id` for a turn that is about to begin; False when one is under way."""
        if self.under_way(task_id):
            return False
        self._reserved.add(task_id)
        return True

    def under_way(self, task_id: str) -> bool:
        """Whether a turn of the task runs or is about to begin."""
        return task_id in self._reserved or task_id in self._running

    def begin(self, task_id: str) -> None:
        """The turn runs."""
        self._running.add(task_id)
        self._reserved.discard(task_id)

    def end(self, task_id: str) -> None:
        """The turn is over; the task takes messages again."""
        self._running.discard(task_id)

    def abandon(self, task_id: str) -> None:
        """The reserved turn will not begin."""
        self._reserved.discard(task_id)

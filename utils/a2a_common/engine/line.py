"""Which of the accepted turns may begin: one of a conversation at a time, a number of them in all, oldest first.

`Pace` estimates when a place is free for another one.
"""

from __future__ import annotations

import math
from collections import deque

_RECENT = 32
"""Ended turns that the estimate is made from."""

SHORTEST, LONGEST = 1.0, 60.0
"""Bounds of the estimate in seconds: one long turn must not send clients away for an hour."""


class Line:
    """The running turns, and the line of those that wait.

    Args:
        at_once: Most turns that run at the same time.
        most_waiting: Most turns that wait; a turn that begins at once does not count.
    """

    def __init__(self, at_once: int, most_waiting: int) -> None:
        self._at_once = at_once
        self._most_waiting = most_waiting
        self._running: dict[str, str] = {}
        self._waiting: dict[str, str] = {}
        self._held: set[str] = set()

    @property
    def running(self) -> int:
        """How many turns run."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """How many turns wait."""
        return len(self._waiting)

    def takes(self, conversation: str) -> bool:
        """Whether a turn of a conversation would begin now, or find a place in the line."""
        return self._begins_now(conversation) or len(self._waiting) < self._most_waiting

    def join(self, task_id: str, conversation: str) -> None:
        """Put a turn at the end of the line, whether there is a place or not."""
        self._waiting[task_id] = conversation

    def leave(self, task_id: str) -> None:
        """A turn has ended, or does not wait any more."""
        self._running.pop(task_id, None)
        self._waiting.pop(task_id, None)

    def hold(self, conversation: str) -> bool:
        """Let no turn of a conversation begin until it is released; `False` where one runs, waits, or it is held already."""
        if conversation in {*self._running.values(), *self._waiting.values(), *self._held}:
            return False
        self._held.add(conversation)
        return True

    def release(self, conversation: str) -> None:
        """Turns of a held conversation may begin again."""
        self._held.discard(conversation)

    def next(self) -> list[str]:
        """The tasks whose turns begin now; they count as running until they leave."""
        begun: list[str] = []
        busy = {*self._running.values(), *self._held}
        for task_id, conversation in self._waiting.items():
            if len(self._running) + len(begun) >= self._at_once:
                break
            if conversation not in busy:
                busy.add(conversation)
                begun.append(task_id)
        for task_id in begun:
            self._running[task_id] = self._waiting.pop(task_id)
        return begun

    def _begins_now(self, conversation: str) -> bool:
        free = len(self._running) < self._at_once
        return free and conversation not in {*self._running.values(), *self._waiting.values(), *self._held}


class Pace:
    """How long recent turns took.

    Args:
        at_once: Turns that run at the same time.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._recent: deque[float] = deque(maxlen=_RECENT)

    def note(self, seconds: float) -> None:
        """A turn ended that ran this long."""
        self._recent.append(seconds)

    def retry_after(self, waiting: int) -> float:
        """Whole seconds after which the turns that wait now have begun, within the bounds."""
        mean = sum(self._recent) / len(self._recent) if self._recent else SHORTEST
        return float(math.ceil(min(LONGEST, max(SHORTEST, mean * waiting / self._at_once))))

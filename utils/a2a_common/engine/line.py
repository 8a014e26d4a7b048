"""Which of the accepted turns may begin: one of a conversation at a time, a number of them in all, oldest first.

If places are shared, the turn of the caller that holds the fewest begins first, and the last places are kept for
callers that hold none.

`Pace` estimates when a place is free for another one.
"""

from __future__ import annotations

import math
from collections import deque

from utils.a2a_common.engine.shares import CALLER_TIMES, Caller, Shares, caller_of, leaves_room

_RECENT = 32
"""Ended turns that the estimate is made from."""

SHORTEST, LONGEST = 1.0, 60.0
"""Bounds of the estimate in seconds: one long turn must not send clients away for an hour."""


class Line:
    """The running turns, and the line of those that wait.

    Args:
        at_once: Most turns that run at the same time.
        most_waiting: Most turns that wait; a turn that begins at once does not count.
        fair: Whether places are shared among the callers.
    """

    def __init__(self, at_once: int, most_waiting: int, *, fair: bool = False) -> None:
        self._most_waiting = most_waiting
        self._fair = fair
        self._shares = Shares(at_once, fair=fair)
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
        return self._begins_now(conversation) or self._waits(caller_of(conversation))

    def join(self, task_id: str, conversation: str) -> None:
        """Put a turn at the end of the line, whether there is a place or not."""
        self._waiting[task_id] = conversation

    def waits(self, task_id: str) -> bool:
        """Whether a turn waits for its place."""
        return task_id in self._waiting

    def leave(self, task_id: str) -> None:
        """A turn has ended, or does not wait any more."""
        ended = self._running.pop(task_id, None)
        if ended is not None:
            self._shares.give_back(caller_of(ended))
        self._waiting.pop(task_id, None)

    def hold(self, conversation: str) -> bool:
        """Keep turns of a conversation from beginning until it is released; `False` if one runs or waits, or if it is held already."""
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
        while (task_id := self._first()) is not None:
            conversation = self._running[task_id] = self._waiting.pop(task_id)
            self._shares.take(caller_of(conversation))
            begun.append(task_id)
        return begun

    def _first(self) -> str | None:
        """The waiting turn that is next to begin, if one may."""
        busy = {*self._running.values(), *self._held}
        callers = {
            task_id: caller_of(conversation)
            for task_id, conversation in self._waiting.items()
            if conversation not in busy
        }
        fit = (task_id for task_id, caller in callers.items() if self._shares.open_to(caller))
        return min(fit, key=lambda task_id: self._shares.rank(callers[task_id]), default=None)

    def _begins_now(self, conversation: str) -> bool:
        if conversation in {*self._running.values(), *self._waiting.values(), *self._held}:
            return False
        return self._shares.open_to(caller_of(conversation))

    def _waits(self, caller: Caller) -> bool:
        """Whether a caller finds a place among those that wait, which are shared in the same way."""
        free = self._most_waiting - len(self._waiting)
        if not self._fair:
            return free > 0
        waiting = sum(caller_of(conversation) == caller for conversation in self._waiting.values())
        return leaves_room(waiting, free, CALLER_TIMES)


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

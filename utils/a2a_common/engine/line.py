"""Which of the accepted turns may begin: one of a conversation at a time, a number of them in all, oldest first.

If places are shared, the turn of the caller that holds the fewest begins first, and the last places are kept for
callers that hold none.

`Pace` estimates when a place is free for another one.
"""

from __future__ import annotations

import math
from collections import Counter, deque

from utils.a2a_common.engine.shared_line import Load, Standing

_RECENT = 32
"""Ended turns that the estimate is made from."""

SHORTEST, LONGEST = 1.0, 60.0
"""Bounds of the estimate in seconds: one long turn must not send clients away for an hour."""


class Line:
    """The running turns, and the line of those that wait. What it decides, `Load` decides, as for the replicas.

    Args:
        at_once: Most turns that run at the same time.
        most_waiting: Most turns that wait; a turn that begins at once does not count.
        fair: Whether places are shared among the callers.
    """

    def __init__(self, at_once: int, most_waiting: int, *, fair: bool = False) -> None:
        self._at_once = at_once
        self._most_waiting = most_waiting
        self._fair = fair
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
        return self._load(conversation).takes(self._most_waiting)

    def join(self, task_id: str, conversation: str) -> None:
        """Put a turn at the end of the line, whether there is a place or not."""
        self._waiting[task_id] = conversation

    def waits(self, task_id: str) -> bool:
        """Whether a turn waits for its place."""
        return task_id in self._waiting

    def leave(self, task_id: str) -> None:
        """A turn has ended, or does not wait any more."""
        self._running.pop(task_id, None)
        self._waiting.pop(task_id, None)

    def hold(self, conversation: str) -> bool:
        """Keep turns of a conversation from beginning until it is released; `False` if one runs or waits, or if it is held already."""
        if self._load(conversation).busy:
            return False
        self._held.add(conversation)
        return True

    def release(self, conversation: str) -> None:
        """Turns of a held conversation may begin again."""
        self._held.discard(conversation)

    def next(self) -> list[str]:
        """The tasks whose turns begin now; they count as running until they leave."""
        waiting = list(self._waiting)
        begun = [waiting[place - 1] for place in self._load().begin()]
        for task_id in begun:
            self._running[task_id] = self._waiting.pop(task_id)
        return begun

    def _load(self, conversation: str = "") -> Load:
        """All turns of this process; a waiting turn's job is its place in the line."""
        running = Counter(self._running.values())
        waiting = Counter(self._waiting.values())
        first: dict[str, int] = {}
        for place, waits in enumerate(self._waiting.values(), start=1):
            first.setdefault(waits, place)
        standings = [
            Standing(each, running[each], waiting[each], first.get(each, 0))
            for each in dict.fromkeys((*running, *waiting))
        ]
        return Load(self._at_once, standings, conversation, self._fair, frozenset(self._held))


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

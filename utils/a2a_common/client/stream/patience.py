"""How long an agent is waited for, and how long one of its tasks has shown no change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from utils.a2a_common.client.transport.errors import NoProgress, TaskLeft
from utils.timing import backoff

_LONGEST_LOOK = 2.0
"""Most seconds between two looks at a task while its agent cannot be reached: a restart takes seconds."""

_LONGEST_PAUSE = 4.0
"""Most seconds between two looks at a task that shows no change and has no stream: the longest delay of a change."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long an agent is waited for.

    Attributes:
        sends: How often a message is sent at most that did not arrive.
        restart_seconds: How long a message is sent again beyond that while the agent cannot be reached.
        busy_seconds: How long a busy agent is asked again to take a message; for a caller with a deadline of its own there
            is no limit.
        away_seconds: How long an agent whose task is open may be out of reach, as while it restarts.
        first_wait: Seconds before the second try, doubled with each.
        quiet_seconds: How long a task whose stream broke may show no change before it is given up; for a caller with
            a deadline of its own there is no limit.
        left_seconds: The same while the agent ends each renewed stream at once, as for a task that nothing works on
            any longer. A stream that stays open, and an agent that offers none, prove nothing: a task may be silent for long.
        held_seconds: A renewed stream that is open for so long has stayed open.
        silent_seconds: How long the first stream may be silent before the task itself is looked at, after twice that at
            the latest, and again and again. It is left only where the task has ended or waits for the user.
        look_seconds: How long a renewed stream may be silent before the task itself is looked at.
        pause_seconds: Between two looks at a task whose stream cannot be taken up; doubled with each that shows no change.
    """

    sends: int = 3
    restart_seconds: float = 0.0
    busy_seconds: float = 120.0
    away_seconds: float = 60.0
    first_wait: float = 0.3
    quiet_seconds: float = 120.0
    left_seconds: float = 60.0
    held_seconds: float = 1.0
    silent_seconds: float = 30.0
    look_seconds: float = 10.0
    pause_seconds: float = 0.5

    @property
    def listen_seconds(self) -> float:
        """How long a renewed stream is listened to while it is silent."""
        return min(self.look_seconds, self.quiet_seconds)

    def wait(self, attempt: int) -> float:
        """Seconds to wait after try number `attempt`, from 1."""
        return backoff(attempt, first=self.first_wait, longest=_LONGEST_LOOK)


PATIENCE = Patience()


class Silence:
    """How long a task has shown no change.

    Args:
        patience: How long it may.
        clock: Seconds since any moment.
    """

    def __init__(self, patience: Patience, clock: Callable[[], float]) -> None:
        self._patience = patience
        self._clock = clock
        self._shown = b""
        self._changed = clock()
        self._left: float | None = None
        self._looks = 0

    def seen(self, shown: bytes) -> bool:
        """Record the current task; returns whether it has changed."""
        if shown == self._shown:
            return False
        self._shown, self._changed = shown, self._clock()
        self._left, self._looks = None, 0
        return True

    def stream_ended(self, seconds: float) -> None:
        """A renewed stream was open for `seconds`. If streams end at once again and again, nothing works on the task."""
        if seconds >= self._patience.held_seconds:
            self._left, self._looks = None, 0
        elif self._left is None:
            self._left = self._clock()

    def unknown(self) -> None:
        """It is unknown whether the agent works on the task: the agent is away, or offers no stream."""
        self._left = None

    def check(self, task_id: str) -> None:
        """Whether it may be waited for any longer.

        Raises:
            NoProgress: It may not.
        """
        now = self._clock()
        if now >= self._changed + self._patience.quiet_seconds:
            raise NoProgress(f"The agent stopped reporting, but task {task_id} is not finished.")
        if self._left is not None and now >= self._left + self._patience.left_seconds:
            raise TaskLeft(task_id, now - self._changed)

    def pause(self) -> float:
        """Seconds to wait before the next look."""
        self._looks += 1
        return backoff(self._looks, first=self._patience.pause_seconds, longest=_LONGEST_PAUSE)

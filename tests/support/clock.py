"""The one clock of tests whose time passes by hand."""

from __future__ import annotations


class Clock:
    """Stands for `time.time` or `time.monotonic`.

    Attributes:
        now: What it says, in seconds.
        step: Seconds that pass before each look at it.
    """

    def __init__(self, now: float = 1_000.0, *, step: float = 0.0) -> None:
        self.now, self.step = now, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now

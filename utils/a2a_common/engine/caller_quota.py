"""`CallerQuota`: how many unfinished turns, and how many bytes of them, one caller may have. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from utils.persistence.runs import UnderWay

CALLER_SHARE = 0.75
"""Default limit of one caller's unfinished turns, as a fraction of the turns that may run."""


@dataclass(frozen=True, slots=True)
class CallerQuota:
    """The limits of one caller's unfinished turns, including those whose sender does not wait for the answer.

    Attributes:
        turns: Maximum number of turns that run or wait; 0 for no limit, `None` for `CALLER_SHARE` of those that may run.
        size: Maximum bytes of all their messages; 0 for no limit. One message is accepted however large it is.
    """

    turns: int | None = 0
    size: int = 0

    @property
    def bounded(self) -> bool:
        """Whether there is any limit."""
        return self.turns != 0 or self.size != 0

    def allow(self, has: UnderWay, size: int, places: int) -> bool:
        """Whether a caller may add a turn.

        Args:
            has: Its unfinished turns.
            size: Bytes of the new message.
            places: Turns of all callers that may run at once, over all replicas.
        """
        turns = max(1, int(places * CALLER_SHARE)) if self.turns is None else self.turns
        if turns and has.turns >= turns:
            return False
        return not (self.size and has.turns and has.size + size > self.size)


NO_LIMIT = CallerQuota()
"""No limit for any caller."""

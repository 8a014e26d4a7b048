"""`Most`: what one caller may have under way, also with messages that return at once. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from utils.persistence.runs import UnderWay

CALLER_SHARE = 0.75
"""Part of the turns that may run which one caller may have under way, where nothing else is set."""


@dataclass(frozen=True, slots=True)
class Most:
    """The limits of one caller's turns under way.

    Attributes:
        turns: Turns that run or wait; 0 for no limit, `None` for three quarters of those that may run.
        size: Bytes of their messages together; 0 for no limit. One message is taken however large it is.
    """

    turns: int | None = 0
    size: int = 0

    @property
    def bounded(self) -> bool:
        """Whether anything is bounded."""
        return self.turns != 0 or self.size != 0

    def takes(self, has: UnderWay, size: int, places: int) -> bool:
        """Whether a caller may have one turn more.

        Args:
            has: What it has under way.
            size: Bytes of the message.
            places: Turns of all callers that may run at once, over all replicas.
        """
        turns = max(1, int(places * CALLER_SHARE)) if self.turns is None else self.turns
        if turns and has.turns >= turns:
            return False
        return not (self.size and has.turns and has.size + size > self.size)


NO_LIMIT = Most()
"""A caller may have anything under way."""

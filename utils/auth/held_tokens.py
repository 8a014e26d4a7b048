"""The exchanged tokens of the turns of this process: kept in memory only, while the turn runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from utils.auth.exchange import Exchanged, NotExchanged, NoTokenReason

Found = Mapping[str, Exchanged | NoTokenReason]
"""The exchanged token of each agent, or why there is none."""

_BEFORE_END = 5.0
"""A token is not used for its last seconds, since the request takes time."""

_LONGEST = 3_600.0


class HeldTokens:
    """Tokens by task.

    Args:
        clock: Seconds since 1970.
    """

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._found: dict[str, tuple[float, Found]] = {}

    def hold(self, task: str, found: Found) -> None:
        """Hold the tokens of a task's next turn, in place of those of an earlier turn. Expired ones are dropped."""
        now = self._clock()
        self._found = {name: each for name, each in self._found.items() if each[0] > now}
        self._found[task] = max((_end(each, now) for each in found.values()), default=now), found

    def of(self, task: str) -> Found | None:
        """The tokens of a task."""
        return self._found[task][1] if task in self._found else None

    def drop(self, task: str, found: Found | None) -> None:
        """Drop the tokens of a turn, unless the next turn of the task has replaced them."""
        if found is not None and self.of(task) is found:
            del self._found[task]

    def token(self, task: str, agent: str) -> str:
        """The token for an agent.

        Raises:
            NotExchanged: There is none.
        """
        found = (self.of(task) or {}).get(agent, NoTokenReason.GONE)
        if isinstance(found, NoTokenReason):
            raise NotExchanged(found)
        if found.expires_at - _BEFORE_END <= self._clock():
            raise NotExchanged(NoTokenReason.GONE)
        return found.token


def _end(found: Exchanged | NoTokenReason, now: float) -> float:
    """When it can be dropped, in seconds since 1970."""
    return found.expires_at if isinstance(found, Exchanged) else now + _LONGEST

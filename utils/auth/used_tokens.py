"""`UsedTokens`: which service tokens were used, so that each is taken once."""

from __future__ import annotations

from typing import Protocol

_MOST = 100_000


class UsedTokens(Protocol):
    """The ids of the tokens that an agent has taken and that have not ended yet."""

    async def use(self, number: str, until: float, now: float) -> bool:
        """Note that a token is used.

        Args:
            number: Its id.
            until: When it ends, in seconds since 1970; it need not be remembered for longer.
            now: The time now, likewise.

        Returns:
            Whether it was not used before.

        Raises:
            StorageError: That cannot be stored.
        """


class MemoryUsedTokens:
    """The tokens that this process has taken."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    async def use(self, number: str, until: float, now: float) -> bool:
        """Note that a token is used."""
        if number in self._until:
            return False
        if len(self._until) >= _MOST:
            self._until = {known: end for known, end in self._until.items() if end > now}
        self._until[number] = until
        return True

"""`UsedTokens`: which service tokens were used, so that each is accepted once."""

from __future__ import annotations

from typing import Protocol

_MOST = 100_000


class UsedTokens(Protocol):
    """The IDs of the tokens that an agent has accepted and that have not expired yet."""

    async def use(self, number: str, until: float, now: float) -> bool:
        """Record that a token is used.

        Args:
            number: Its ID.
            until: When it expires, in seconds since 1970; it need not be recorded for longer.
            now: The current time, likewise.

        Returns:
            Whether it was not used before.

        Raises:
            StorageError: The record cannot be written.
        """


class MemoryUsedTokens:
    """The tokens that this process has accepted."""

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

"""Texts that left a model's view, in memory."""

from __future__ import annotations

from collections.abc import Mapping


class MemoryArtifactStore:
    """As `SqliteArtifactStore`, and lost with the process."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str], str] = {}

    async def put(self, scope: str, artifacts: Mapping[str, str]) -> None:
        """Store texts by handle."""
        self._texts.update({(scope, handle): text for handle, text in artifacts.items()})

    async def get(self, scope: str, handle: str) -> str | None:
        """The text, or `None` if this scope has no such handle."""
        return self._texts.get((scope, handle))

    async def delete_scope(self, scope: str) -> int:
        """Delete all texts of a conversation; return how many."""
        gone = [key for key in self._texts if key[0] == scope]
        for key in gone:
            del self._texts[key]
        return len(gone)

"""A journal of changes that does not show what they are about."""

from __future__ import annotations

from dataclasses import replace

from agents.github.changes.journal import Entry
from agents.github.changes.sender import Book
from utils.encryption.codec import Place
from utils.persistence.encrypted import places
from utils.persistence.encrypted.wrapped import Wrapped


class EncryptedJournal(Wrapped[Book]):
    """Encrypts what a change is and where it went, over a journal in a file or in a database.

    Digests stay, since a change is found by them.
    """

    async def delete(self, thread_id: str) -> None:
        """Delete what is recorded of a conversation."""
        await self._inner.delete(thread_id)

    async def ask(self, entry: Entry) -> tuple[Entry, bool]:
        """Record that the user is asked."""
        closed = replace(entry, what=self._codec.encrypt_text(entry.what, _of(entry)))
        stored, new = await self._inner.ask(closed)
        return self._plain(stored), new

    async def intend(self, entry: Entry) -> bool:
        """Record that the change is about to be sent."""
        return await self._inner.intend(entry)

    async def settle(self, key: str, state: str, link: str = "") -> None:
        """Record the outcome."""
        await self._inner.settle(key, state, self._codec.encrypt_text(link, places.link(key)) if link else "")

    async def unknown_with(self, digest: str) -> bool:
        """Whether the same change was sent before with an unknown outcome."""
        return await self._inner.unknown_with(digest)

    async def unreported(self, thread_id: str) -> list[Entry]:
        """The changes of a conversation with an unknown outcome that was not reported yet."""
        return [self._plain(entry) for entry in await self._inner.unreported(thread_id)]

    async def mark_reported(self, key: str) -> None:
        """Record that a change was reported to the user."""
        await self._inner.mark_reported(key)

    def _plain(self, entry: Entry) -> Entry:
        what = self._codec.decrypt_text(entry.what, _of(entry))
        return replace(entry, what=what, link=self._codec.decrypt_text(entry.link, places.link(entry.key)))


def _of(entry: Entry) -> Place:
    return places.change(entry.key, entry.thread_id)

"""What one agent remembers of its users: keeps, finds, shows and forgets it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import structlog
from langgraph.store.base import Item, SearchItem

from utils.memory.learning import MOST_KNOWN, Learnt
from utils.memory.memory import Memory, MemoryKind, is_off
from utils.memory.settings import MemorySettings
from utils.memory.shown import Counts, block_of, fitting
from utils.memory.store import LongTermStore
from utils.messages.words import words_of
from utils.persistence.memories import Memories

log = structlog.get_logger(__name__)

_ALL = 10_000
_LONGEST_QUERY = 2_000
_FITS = 0.15
"""Least score of what a search finds; with the embedded model, sentences on unlike things have less."""
_SHORTEST_WORD = 3


async def nothing_to_wipe() -> None:
    """What is done after a deletion where nothing of it stays in a file."""


class LongTermMemory:
    """The memory of one agent; every method of it may raise `StorageError`.

    Args:
        memories: Where it is kept.
        store: The same as LangGraph's store.
        settings: How much is kept and shown.
        wipe: Rewrites the file without what was deleted.
    """

    def __init__(
        self,
        memories: Memories,
        store: LongTermStore,
        settings: MemorySettings,
        wipe: Callable[[], Awaitable[None]] = nothing_to_wipe,
    ) -> None:
        self._memories = memories
        self._store = store
        self._wipe = wipe
        self._writing = asyncio.Lock()
        self.settings = settings

    async def open(self) -> None:
        """Open the storage. Safe to call twice."""
        await self._memories.open()

    async def close(self) -> None:
        """Close it. Safe to call twice."""
        await self._memories.close()

    async def all_of(self, owner: str) -> list[Memory]:
        """Everything that is remembered of a user, oldest first."""
        return _shown(await self._store.asearch((owner,), limit=_ALL))

    async def found(self, owner: str, query: str, most: int) -> list[Memory]:
        """What fits a search, best first, summaries of conversations included."""
        return [each for each in await self._ranked(owner, query) if each.score >= _FITS][:most]

    async def _ranked(self, owner: str, query: str) -> list[Memory]:
        """Everything, what fits best first."""
        return _shown(await self._store.asearch((owner,), query=query[:_LONGEST_QUERY], limit=_ALL))

    async def near(self, owner: str, message: str) -> list[Memory]:
        """What is known already of what a message is about; conversations are left out."""
        return [each for each in await self._ranked(owner, message) if _is_said(each)][:MOST_KNOWN]

    async def block(self, owner: str, request: str, counter: Counts) -> str:
        """What is shown to the model with a request: all, or what fits it best where all is too much."""
        known = [each for each in await self.all_of(owner) if _is_said(each)]
        text = block_of(known)
        if counter.text(text) <= self.settings.tokens:
            return text
        best = [each for each in await self._ranked(owner, request) if _is_said(each)]
        return fitting(best, self.settings.tokens, counter)

    async def remember(self, owner: str, kind: MemoryKind, text: str, thread_id: str) -> Memory:
        """Keep a user's words; those that are known already are renewed, also where another process learns them just now.

        Words without a thread were said beside all conversations, and leave with none.
        """
        async with self._writing:
            known = next(iter(await self._saying(owner, kind, text)), None)
            memory_id = known.id if known else secrets.token_hex(3)
            await self._store.keep(owner, kind, memory_id, {"text": text}, thread_id)
            memory_id = await self._one_of(owner, kind, text) or memory_id
            await self._make_room(owner)
        log.info("memory.kept", kind=kind.value, new=known is None)
        return Memory(memory_id, kind, text, 0)

    async def _saying(self, owner: str, kind: MemoryKind, text: str) -> list[Memory]:
        """The memories of a kind that say this, oldest first."""
        return [each for each in await self.all_of(owner) if each.kind is kind and _same(each.text, text)]

    async def _one_of(self, owner: str, kind: MemoryKind, text: str) -> str | None:
        """Join the memories that say this, which several processes may have written at once; return the id of the one.

        Whoever writes last sees them all. All keep the oldest one; where it was joined to an older one meanwhile, it is looked again.
        """
        while len(same := await self._saying(owner, kind, text)) > 1:
            await self._memories.join(owner, kind, same[0].id, [each.id for each in same[1:]])
        return same[0].id if same else None

    async def learn(self, owner: str, learnt: Sequence[Learnt], thread_id: str) -> None:
        """Keep what a message taught; what it replaces is forgotten."""
        for each in learnt:
            kept = await self.remember(owner, each.kind, each.text, thread_id)
            if each.replaces is not None and each.replaces.id != kept.id:
                await self._store.adelete((owner, each.replaces.kind), each.replaces.id)

    async def episode(self, owner: str, thread_id: str) -> dict[str, Any]:
        """What is kept of a conversation as a whole; empty if nothing is."""
        found = await self._store.aget((owner, MemoryKind.EPISODE), episode_id(thread_id))
        return dict(found.value) if found else {}

    async def keep_episode(self, owner: str, thread_id: str, text: str, said: int) -> None:
        """Keep what a conversation was about; `said` are the characters of the user's words that it was made from."""
        value = {"text": text, "said": said}
        await self._store.keep(owner, MemoryKind.EPISODE, episode_id(thread_id), value, thread_id)
        await self._make_room(owner)

    async def forget(self, owner: str, memories: Sequence[Memory]) -> None:
        """Forget memories, and the summaries of conversations that tell the same.

        A conversation whose summary was forgotten gets no other one.
        """
        words = [_words(each.text) for each in memories if _is_said(each)]
        for each in await self.all_of(owner):
            tells = each.kind is MemoryKind.EPISODE and any(
                some and some <= _words(each.text) for some in words
            )
            if tells or any((each.kind, each.id) == (one.kind, one.id) for one in memories):
                await self._drop(owner, each)
        await self._wipe()
        log.info("memory.forgotten", memories=len(memories))

    async def forget_conversation(self, thread_id: str) -> None:
        """Forget what was learnt from a conversation alone."""
        if await self._memories.remove_learnt(thread_id):
            await self._wipe()

    async def meant(self, owner: str, what: str) -> list[Memory]:
        """The memories that a user means: the one of this id, else those that have all of these words."""
        known, words = await self.all_of(owner), _words(what)
        by_id = [each for each in known if each.id == what.strip().strip("[]")]
        return by_id or [each for each in known if words and _is_said(each) and words <= _words(each.text)]

    async def _drop(self, owner: str, memory: Memory) -> None:
        namespace = (owner, memory.kind)
        if memory.kind is MemoryKind.EPISODE:
            await self._store.aput(namespace, memory.id, {"off": True})
        else:
            await self._store.adelete(namespace, memory.id)

    async def _make_room(self, owner: str) -> None:
        """Forget what was not renewed for the longest time, as far as there is more than is kept."""
        items = await self._store.asearch((owner,), limit=_ALL)
        items.sort(key=lambda each: (each.updated_at, each.key))
        for item in items[: max(0, len(items) - self.settings.items)]:
            await self._store.adelete(item.namespace, item.key)


def episode_id(thread_id: str) -> str:
    """The id of what is kept of a conversation as a whole."""
    return thread_id[:12]


def _shown(items: Sequence[SearchItem]) -> list[Memory]:
    return [_memory(item, item.score or 0.0) for item in items if not is_off(item.value)]


def _memory(item: Item, score: float) -> Memory:
    text = str(item.value.get("text", ""))
    return Memory(item.key, MemoryKind(item.namespace[1]), text, item.updated_at.timestamp(), score)


def _is_said(memory: Memory) -> bool:
    """Whether it is a fact or a rule that can be read."""
    return memory.kind is not MemoryKind.EPISODE and bool(memory.text)


def _same(one: str, other: str) -> bool:
    return words_of(one) == words_of(other)


def _words(text: str) -> frozenset[str]:
    """The words that tell something: all of them where none is longer than two characters."""
    words = words_of(text)
    return frozenset(word for word in words if len(word) >= _SHORTEST_WORD) or frozenset(words)

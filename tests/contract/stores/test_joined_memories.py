"""Two processes that learn the same at the same time, over SQLite and PostgreSQL, encrypted: one memory stays, of both conversations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from cryptography.fernet import Fernet

from tests.contract.stores.told import Place
from utils.encryption.codec import Codec
from utils.memory.long_term import LongTermMemory
from utils.memory.memory import MemoryKind
from utils.memory.settings import MemorySettings
from utils.memory.store import LongTermStore
from utils.persistence.memories import Memories
from utils.persistence.stores import stores_in

CODEC = Codec([Fernet.generate_key().decode()])
TEXT = "My team owns the shop."


class Late:
    """A real store, in which what was read first is answered once it may be."""

    def __init__(self, inner: Memories) -> None:
        self.inner = inner
        self.has_read, self.may_go_on = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def all_of(self, owner: str) -> Any:
        rows = await self.inner.all_of(owner)
        self.has_read.set()
        await self.may_go_on.wait()
        return rows


def memory_of(memories: Any) -> LongTermMemory:
    return LongTermMemory(memories, LongTermStore(memories), MemorySettings())


@pytest.fixture
async def stores(storage: Place) -> AsyncIterator[tuple[Memories, Late]]:
    """Two stores on one database, as two processes have them; the second one is late."""
    first, second = (stores_in(storage.home, storage.pool, CODEC).memories() for _ in range(2))
    await first.open()
    await second.open()
    yield first, Late(second)
    await first.close()
    await second.close()


async def both_learnt(first: Memories, second: Late) -> None:
    late = asyncio.create_task(memory_of(second).remember("ann", MemoryKind.FACT, TEXT.upper(), "t2"))
    await second.has_read.wait()
    await memory_of(first).remember("ann", MemoryKind.FACT, TEXT, "t1")
    second.may_go_on.set()
    kept = await late
    assert [each.id for each in await memory_of(first).all_of("ann")] == [kept.id]


async def test_what_two_processes_learnt_at_once_is_one_memory_of_both_conversations(
    stores: tuple[Memories, Late],
) -> None:
    first, second = stores
    await both_learnt(first, second)
    assert await first.remove_learnt("t1") == 0
    assert len(await first.all_of("ann")) == 1
    assert await first.remove_learnt("t2") == 1
    assert await first.all_of("ann") == []


async def test_other_owners_kinds_and_sentences_are_not_joined(stores: tuple[Memories, Late]) -> None:
    first, second = stores
    await both_learnt(first, second)
    memory = memory_of(first)
    await memory.remember("bob", MemoryKind.FACT, TEXT, "t3")
    await memory.remember("ann", MemoryKind.PROCEDURE, TEXT, "t3")
    await memory.remember("ann", MemoryKind.FACT, "My team owns the depot.", "t3")
    assert len(await memory.all_of("ann")) == 3
    assert len(await memory.all_of("bob")) == 1


async def test_twenty_that_learn_the_same_at_once_keep_one_memory(storage: Place) -> None:
    several = [stores_in(storage.home, storage.pool, CODEC).memories() for _ in range(4)]
    for each in several:
        await each.open()
    learning = [
        memory_of(each).remember("ann", MemoryKind.FACT, TEXT, f"t{number}")
        for number, each in enumerate(several * 5)
    ]
    await asyncio.gather(*learning)
    (kept,) = await several[0].all_of("ann")
    removed = [await several[0].remove_learnt(f"t{number}") for number in range(20)]
    assert removed == [0] * 19 + [1], kept
    for each in several:
        await each.close()


async def test_nothing_is_joined_to_a_memory_that_is_gone(stores: tuple[Memories, Late]) -> None:
    first, _ = stores
    memory = memory_of(first)
    kept = await memory.remember("ann", MemoryKind.FACT, TEXT, "t1")
    await first.join("ann", MemoryKind.FACT, "gone", [kept.id])
    assert [each.id for each in await memory.all_of("ann")] == [kept.id]
    assert await first.remove_learnt("t1") == 1

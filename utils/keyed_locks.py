"""Locks by key: tasks that work on the same key wait for each other, others do not."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

Key = TypeVar("Key", bound=Hashable)


class KeyedLocks(Generic[Key]):
    """One lock for each key, which exists while a task holds it or waits for it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Key, asyncio.Lock] = WeakValueDictionary()

    def of(self, key: Key) -> asyncio.Lock:
        """The lock of `key`."""
        return self._locks.setdefault(key, asyncio.Lock())

"""`DiskRoom`: keeps the last of a volume for short messages, so that one caller's large ones do not end the service for all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from google.protobuf.message import Message

from utils.a2a_common.protocol.storage_low import StorageLow

PART = 1024
"""Below the reserve a message may be this part of what is left: a turn stores its message a few times, and an answer beside it."""

SMALL = 1024
"""Bytes of a message that is never refused, so that a question can be answered and a conversation ended."""

AGAIN_SECONDS = 60.0
"""When a message that was refused may be sent again: what is old is deleted every few minutes, or an operator makes room."""

LOW = "The disk is nearly full: {:,} MiB are left. Large messages are refused; free some space."


class DiskRoom:
    """The free space of an agent's volume.

    Args:
        free: Returns the free bytes; `None` where nothing is stored on a disk of the agent.
        reserve: Bytes that are kept for short messages; 0 for none.
    """

    def __init__(self, free: Callable[[], int] | None = None, reserve: int = 0) -> None:
        self._free = free
        self._reserve = reserve

    async def check(self, message: Message) -> None:
        """Refuse a message that takes too much of the reserve.

        Raises:
            StorageLow: It does.
        """
        size = message.ByteSize()
        if size > SMALL and (left := await self._left()) is not None and size > left // PART:
            raise StorageLow(AGAIN_SECONDS)

    async def note(self) -> str:
        """The warning for the operator before the disk is full; empty while there is room."""
        left = await self._left()
        return "" if left is None else LOW.format(left // 1024**2)

    async def free(self) -> int | None:
        """Free bytes; `None` if unknown."""
        if self._free is None:
            return None
        try:
            return await asyncio.to_thread(self._free)
        except OSError:  # the storage itself reports what is wrong with its folder
            return None

    async def _left(self) -> int | None:
        """Remaining bytes of the reserve; `None` while none of it is used."""
        if not self._reserve or (free := await self.free()) is None:
            return None
        return free if free < self._reserve else None

"""`Wrapped`: what every store with encrypted contents has in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from utils.encryption.codec import Codec
    from utils.persistence.stores import Opened

Inner = TypeVar("Inner", bound="Opened")


class Wrapped(Generic[Inner]):
    """A store over another one, which is opened and closed with it.

    Args:
        inner: Stores what it is given.
        codec: Encrypts what `inner` is given, and decrypts what it returns.
    """

    def __init__(self, inner: Inner, codec: Codec) -> None:
        self._inner = inner
        self._codec = codec

    async def open(self) -> None:
        """Open the storage."""
        await self._inner.open()

    async def close(self) -> None:
        """Close the storage."""
        await self._inner.close()

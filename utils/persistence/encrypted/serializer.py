"""LangGraph's serializer of checkpoints, with the keys of the agent, for one conversation at a time."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from utils.encryption.codec import Codec, Place
from utils.persistence.encrypted import places
from utils.persistence.stored_messages import MessageSerializer, Shelf

CIPHER = "fernet"
"""Stands behind the type of each encrypted value."""


class CodecCipher:
    """The cipher for LangGraph.

    Args:
        codec: The keys.
        place: The conversation; without one nothing is encrypted or decrypted.
    """

    def __init__(self, codec: Codec, place: Place | None = None) -> None:
        self._codec = codec
        self._place = place

    def of(self, thread_id: str) -> CodecCipher:
        """The one for a conversation."""
        return CodecCipher(self._codec, places.checkpoint(thread_id))

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        """The name of the cipher, and the stored form."""
        return CIPHER, self._codec.encrypt(plaintext, self._known())

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        """The bytes of a stored form.

        Raises:
            StorageUnreadable: No key fits, or it is another conversation's.
        """
        del ciphername
        return self._codec.decrypt(bytes(ciphertext), self._known())

    def _known(self) -> Place:
        if self._place is None:
            raise RuntimeError(
                "A checkpoint is encrypted for its conversation: take serializer_of(serde, thread_id)."
            )
        return self._place


def serializer(codec: Codec) -> SerializerProtocol | None:
    """The serializer of a saver; `None` for LangGraph's own, if nothing is encrypted."""
    return EncryptedSerializer(CodecCipher(codec), JsonPlusSerializer()) if codec.on else None


def serializer_of(serde: Any, thread_id: str, shelf: Shelf | None = None) -> Any:
    """The serializer for the checkpoints of a conversation, on top of their saver's. Also reads unencrypted ones.

    Args:
        serde: The saver's.
        thread_id: The conversation.
        shelf: Its messages; without it, those of a value are stored in it.
    """
    encrypted = isinstance(serde, EncryptedSerializer) and isinstance(serde.cipher, CodecCipher)
    inner = serde.serde if encrypted else serde
    kept = inner if shelf is None else MessageSerializer(inner, shelf)
    return EncryptedSerializer(serde.cipher.of(thread_id), kept) if encrypted else kept

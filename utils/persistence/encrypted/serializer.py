"""LangGraph's serializer of checkpoints, with the keys of the agent, for one conversation at a time."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from utils.encryption.codec import Codec, Place
from utils.persistence.encrypted import places
from utils.persistence.stored_messages import MessageSerializer, StoredMessages

CIPHER = "fernet"
"""Stands behind the type of each encrypted value."""


class CodecCipher:
    """The cipher for LangGraph.

    Args:
        codec: The keys.
        place: The conversation; without one nothing is encrypted or decrypted.

    Attributes:
        on: Whether anything is encrypted.
    """

    def __init__(self, codec: Codec, place: Place | None = None) -> None:
        self._codec = codec
        self._place = place
        self.on = codec.on

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


class CodecSerializer(EncryptedSerializer):
    """LangGraph's, except that a codec that does not encrypt stores values as they are.

    Args:
        cipher: The keys.
        serde: Serialises.
    """

    def __init__(self, cipher: CodecCipher, serde: SerializerProtocol) -> None:
        super().__init__(cipher, serde)
        self._encrypts = cipher.on

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """The type and the bytes of a value."""
        return super().dumps_typed(obj) if self._encrypts else self.serde.dumps_typed(obj)


def serializer(codec: Codec) -> CodecSerializer:
    """The serializer of a saver."""
    return CodecSerializer(CodecCipher(codec), JsonPlusSerializer())


def serializer_of(serde: Any, thread_id: str, messages: StoredMessages | None = None) -> CodecSerializer:
    """The serializer for the checkpoints of a conversation, on top of their saver's. Also reads unencrypted ones.

    Args:
        serde: The saver's, as `serializer` made it.
        thread_id: The conversation.
        messages: Its messages; without it, those of a value are stored in it.
    """
    kept = serde.serde if messages is None else MessageSerializer(serde.serde, messages)
    return CodecSerializer(serde.cipher.of(thread_id), kept)

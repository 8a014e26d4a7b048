"""LangGraph's serializer of checkpoints, with the keys of the agent."""

from __future__ import annotations

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from utils.encryption.codec import Codec

CIPHER = "fernet"
"""Stands behind the type of each encrypted value."""


class CodecCipher:
    """What LangGraph encrypts and decrypts with."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        """The name of the cipher, and the stored form."""
        return CIPHER, self._codec.encrypt(plaintext)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        """The bytes of a stored form.

        Raises:
            StorageKeyMissing: No key fits.
        """
        del ciphername
        return self._codec.decrypt(bytes(ciphertext))


def serializer(codec: Codec) -> SerializerProtocol | None:
    """What checkpoints are stored by; `None` for LangGraph's own, where nothing is encrypted. Reads plain ones too."""
    return EncryptedSerializer(CodecCipher(codec), JsonPlusSerializer()) if codec.on else None

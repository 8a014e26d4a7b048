"""What versions before values were bound to their places wrote."""

from __future__ import annotations

from base64 import urlsafe_b64decode

from cryptography.fernet import Fernet

from utils.encryption.codec import OLD_MARK, Codec, Place


class Unbound(Codec):
    """Writes as those versions did."""

    def encrypt(self, body: bytes, place: Place) -> bytes:
        """The stored form of bytes, without the place."""
        del place
        return OLD_MARK + urlsafe_b64decode(Fernet(self.keys[0]).encrypt(body))

    def encrypt_text(self, text: str, place: Place) -> str:
        """The stored form of a text, without the place."""
        del place
        return "\x01encrypted:" + Fernet(self.keys[0]).encrypt(text.encode()).decode()

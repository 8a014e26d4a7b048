"""Encrypts what is stored. The keys rotate: the first one writes, all read.

What was stored before there were keys stays readable: encrypted values carry a mark that plain ones do not begin with.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from utils.errors import SettingsError, StorageKeyMissing

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

log = structlog.get_logger(__name__)

VARIABLE = "ENCRYPTION_KEYS"

MARK = b"\xffencrypted\x01"
"""Begins encrypted bytes. Neither UTF-8 nor a serialised message can begin so."""

TEXT_MARK = "\x01encrypted:"
"""Begins encrypted texts, together with what every token of Fernet begins with."""

_TEXT = re.compile(rf"{TEXT_MARK}gAAAAA[\w-]+=*", re.ASCII)

_WRONG = "{variable} needs keys of 32 bytes in base64url, with commas, as `openssl rand -base64 32 | tr '+/' '-_'` prints one."


def fernet_of(variable: str, keys: Sequence[str]) -> MultiFernet:
    """The library's cipher: the first key encrypts, all decrypt.

    Args:
        variable: The setting that the keys come from.
        keys: 32 bytes each, in base64url.

    Raises:
        SettingsError: One is none, or there is none.
    """
    from cryptography.fernet import Fernet, MultiFernet

    try:
        return MultiFernet([Fernet(key) for key in keys])
    except ValueError as error:
        raise SettingsError(variable, _WRONG.format(variable=variable)) from error


_KEY_MISSING = f"Something that is stored was encrypted with a key that {VARIABLE} does not name. Put that key back, behind the first one."


class Codec:
    """Encrypts and decrypts what stores are given.

    Args:
        keys: Keys of Fernet; without any, all is stored as it is.

    Raises:
        SettingsError: A key is none.
    """

    def __init__(self, keys: Sequence[str] = ()) -> None:
        self.keys = tuple(keys)
        self._fernet = fernet_of(VARIABLE, keys) if keys else None

    @property
    def on(self) -> bool:
        """Whether anything is encrypted."""
        return self._fernet is not None

    def encrypt(self, body: bytes) -> bytes:
        """The stored form of bytes."""
        if self._fernet is None:
            return body
        return MARK + urlsafe_b64decode(self._fernet.encrypt(body))

    def decrypt(self, stored: bytes) -> bytes:
        """The bytes of a stored form, which may be plain.

        Raises:
            StorageKeyMissing: No key fits.
        """
        if not stored.startswith(MARK):
            return stored
        return self._opened(urlsafe_b64encode(stored[len(MARK) :]))

    def encrypt_text(self, text: str) -> str:
        """The stored form of a text; a half of a surrogate pair becomes a question mark."""
        if self._fernet is None:
            return text
        return TEXT_MARK + self._fernet.encrypt(text.encode("utf-8", "replace")).decode("ascii")

    def decrypt_text(self, stored: str) -> str:
        """The text of a stored form, which may be plain.

        Raises:
            StorageKeyMissing: No key fits.
        """
        if _TEXT.fullmatch(stored) is None:
            return stored
        return self._opened(stored[len(TEXT_MARK) :].encode("ascii")).decode("utf-8")

    def digest(self, key: bytes) -> bytes:
        """What a value is looked up by; with keys it tells nobody without the first one what the value is."""
        return hmac.digest(self.keys[0].encode(), key, hashlib.sha256) if self.keys else key

    def _opened(self, token: bytes) -> bytes:
        from cryptography.fernet import InvalidToken

        if self._fernet is not None:
            with suppress(InvalidToken):
                return self._fernet.decrypt(token)
        log.error("storage.key_missing", setting=VARIABLE)
        raise StorageKeyMissing(for_operator=_KEY_MISSING)


PLAIN = Codec()
"""Stores all as it is."""

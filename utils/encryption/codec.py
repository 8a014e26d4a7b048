"""Encrypts what is stored, for the place where it is stored alone. The keys rotate: the first one writes, all read.

Encryption begins in the same way: `PLAIN_WORD` in the place of the first key stores values as they are while all keys read.

Fernet has no associated data: the digest of the place stands before the content, in what it encrypts and signs.

What was stored before there were keys stays readable: encrypted values carry a mark that plain ones do not begin with.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from utils.encryption.errors import StorageKeyMissing, StorageMisplaced
from utils.errors import SettingsError

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

log = structlog.get_logger(__name__)

VARIABLE = "ENCRYPTION_KEYS"

PLAIN_WORD = "plain"
"""Stands before the keys where nothing is encrypted yet."""

Place = tuple[str, ...]
"""Where a value is stored: the kind of value, then the key of its row and whose it is."""

MARK = b"\xffencrypted\x02"
"""Begins encrypted bytes. Neither UTF-8 nor a serialised message can begin so."""

OLD_MARK = b"\xffencrypted\x01"
"""Begins encrypted bytes of earlier versions, which did not say for which place."""

TEXT_MARK = "\x02encrypted:"
"""Begins encrypted texts, together with what every token of Fernet begins with."""

_TEXT = re.compile(r"[\x01\x02]encrypted:gAAAAA[\w-]+=*", re.ASCII)
"""An encrypted text; those of earlier versions, which did not say for which place, begin with another character."""

_DIGEST = 32
"""Bytes of the digest of a place."""

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

_MOVED = "Something that is stored was encrypted for another row or owner: whoever may write to the storage has moved it."


class Codec:
    """Encrypts and decrypts what stores are given.

    Args:
        keys: Keys of Fernet; without any, all is stored as it is. Behind `PLAIN_WORD` they read and do not write.

    Raises:
        SettingsError: A key is none.
    """

    def __init__(self, keys: Sequence[str] = ()) -> None:
        plain = bool(keys) and keys[0] == PLAIN_WORD
        self.keys = tuple(keys[1:] if plain else keys)
        self._fernet = fernet_of(VARIABLE, self.keys) if self.keys else None
        self._first = fernet_of(VARIABLE, self.keys[:1]) if self.keys and not plain else None

    @property
    def on(self) -> bool:
        """Whether what is stored from now is encrypted."""
        return self._first is not None

    def encrypt(self, body: bytes, place: Place) -> bytes:
        """The stored form of bytes, which is of use at this place alone."""
        if self._first is None:
            return body
        return MARK + urlsafe_b64decode(self._first.encrypt(digest_of(place) + body))

    def decrypt(self, stored: bytes, place: Place) -> bytes:
        """The bytes of a stored form that was found at this place, which may be plain.

        Raises:
            StorageKeyMissing: No key fits.
            StorageMisplaced: It was encrypted for another place.
        """
        if stored.startswith(MARK):
            return _belonging(self._opened(_token(stored)), place)
        return self._opened(_token(stored)) if stored.startswith(OLD_MARK) else stored

    def encrypt_text(self, text: str, place: Place) -> str:
        """The stored form of a text; a half of a surrogate pair becomes a question mark."""
        if self._first is None:
            return text
        token = self._first.encrypt(digest_of(place) + text.encode("utf-8", "replace"))
        return TEXT_MARK + token.decode("ascii")

    def decrypt_text(self, stored: str, place: Place) -> str:
        """The text of a stored form that was found at this place, which may be plain.

        Raises:
            StorageKeyMissing: No key fits.
            StorageMisplaced: It was encrypted for another place.
        """
        if _TEXT.fullmatch(stored) is None:
            return stored
        body = self._opened(stored[len(TEXT_MARK) :].encode("ascii"))
        return (_belonging(body, place) if stored.startswith(TEXT_MARK) else body).decode("utf-8")

    def reads(self, stored: bytes) -> bool:
        """Whether bytes in a stored form can be decrypted, or are plain; wherever they were found."""
        if not stored.startswith((MARK, OLD_MARK)):
            return True
        return self._fernet is not None and _opens(self._fernet, _token(stored))

    def is_current(self, stored: bytes | str) -> bool:
        """Whether a stored form is as this codec writes it: by the first key, for a place."""
        if self._first is None:
            return True
        if isinstance(stored, str):
            bound = _TEXT.fullmatch(stored) is not None and stored.startswith(TEXT_MARK)
            token = stored[len(TEXT_MARK) :].encode("ascii", "replace")
        else:
            bound, token = stored.startswith(MARK), _token(stored)
        return bound and _opens(self._first, token)

    def rotated(self, token: bytes) -> bytes | None:
        """A token of Fernet without a mark, by the first key; `None` where it is by it already, or by none of these keys."""
        if self._fernet is None or self._first is None or _opens(self._first, token):
            return None
        return self._fernet.rotate(token) if _opens(self._fernet, token) else None

    def digest(self, key: bytes) -> bytes:
        """What a value is looked up by; with keys it tells nobody without the first one what the value is."""
        return hmac.digest(self.keys[0].encode(), key, hashlib.sha256) if self.keys else key

    def _opened(self, token: bytes) -> bytes:
        """What a token holds, with the digest of a place or without."""
        from cryptography.fernet import InvalidToken

        if self._fernet is not None:
            with suppress(InvalidToken):
                return self._fernet.decrypt(token)
        log.error("storage.key_missing", setting=VARIABLE)
        raise StorageKeyMissing(for_operator=_KEY_MISSING)


def digest_of(place: Place) -> bytes:
    """What stands for a place: no other one has it."""
    return hashlib.sha256(json.dumps(place).encode()).digest()


def _belonging(body: bytes, place: Place) -> bytes:
    if not hmac.compare_digest(body[:_DIGEST], digest_of(place)):
        log.error("storage.misplaced", kind=place[0])
        raise StorageMisplaced(for_operator=_MOVED)
    return body[_DIGEST:]


def _token(stored: bytes) -> bytes:
    return urlsafe_b64encode(stored[len(MARK) :])


def _opens(fernet: MultiFernet, token: bytes) -> bool:
    from cryptography.fernet import InvalidToken

    try:
        fernet.decrypt(token)
    except InvalidToken:
        return False
    return True


PLAIN = Codec()
"""Stores all as it is."""

"""What is kept of a user's authorisation: its values, and their encrypted form."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from utils.auth.device_flow import DeviceCode, Tokens
from utils.encryption.codec import fernet_of

VARIABLE = "GITHUB_OAUTH_KEYS"


@dataclass(frozen=True, slots=True)
class Grant:
    """What a user has authorised.

    Attributes:
        tokens: The tokens.
        login: Name of the account at GitHub.
    """

    tokens: Tokens
    login: str


@dataclass(frozen=True, slots=True)
class SignIn:
    """The sign-in that one tool call asks for.

    Attributes:
        call: Key of the tool call.
        thread_id: The conversation.
        asked: How many questions it has put to the user.
        code: The sign-in that is under way; `None` if there is none.
    """

    call: str
    thread_id: str
    asked: int = 0
    code: DeviceCode | None = None


def owner_key(tenant: str, person: str) -> str:
    """The key under which a user's authorisation is stored; it does not reveal the user."""
    return hashlib.sha256(json.dumps([tenant, person]).encode()).hexdigest()


class Unreadable(Exception):
    """It was encrypted with a key that no longer exists, or belongs to another user."""


class Cipher:
    """Encrypts what is stored.

    Args:
        keys: Keys of Fernet: the first one encrypts, all decrypt.

    Raises:
        SettingsError: One is none.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        self._fernet = fernet_of(VARIABLE, keys)

    def grant(self, owner: str, grant: Grant) -> bytes:
        """The encrypted form of an authorisation, which is of no use under another owner."""
        return self._closed(owner, {"tokens": asdict(grant.tokens), "login": grant.login})

    def read_grant(self, owner: str, body: bytes) -> Grant:
        """The authorisation.

        Raises:
            Unreadable: It is not this owner's, or no key fits.
        """
        found = self._opened(owner, body)
        return Grant(Tokens(**found["tokens"]), str(found["login"]))

    def code(self, call: str, code: DeviceCode | None) -> bytes:
        """The encrypted form of a sign-in that is under way."""
        return self._closed(call, None if code is None else asdict(code))

    def read_code(self, call: str, body: bytes) -> DeviceCode | None:
        """The sign-in.

        Raises:
            Unreadable: It is not this call's, or no key fits.
        """
        found = self._opened(call, body)
        return None if found is None else DeviceCode(**found)

    def _closed(self, owner: str, value: Any) -> bytes:
        return self._fernet.encrypt(json.dumps([owner, value]).encode())

    def _opened(self, owner: str, body: bytes) -> Any:
        from cryptography.fernet import InvalidToken

        try:
            whose, value = json.loads(self._fernet.decrypt(body))
        except InvalidToken as error:
            raise Unreadable from error
        if whose != owner:
            raise Unreadable
        return value

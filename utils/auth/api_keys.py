"""API keys: made here, shown once, and stored as digests in a file."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from utils.atomic_file import replace_file
from utils.auth.principal import Principal
from utils.auth.refusal import AuthRefused, RefusalReason
from utils.errors import SettingsError

ISSUER = "api-key"
PREFIX = "pe_"
_KEY_BYTES = 32
_VARIABLE = "AUTH_KEYS_FILE"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is stored of a key.

    Attributes:
        name: Its owner.
        digest: SHA-256 of the key. The key has 256 random bits, so that nothing slower is needed.
        scopes: What it allows.
        tenant: The owner's tenant; empty without tenants.
        expires: Seconds since 1970 from which it is refused; 0 for never.
        created: Seconds since 1970.
    """

    name: str
    digest: str
    scopes: Sequence[str]
    tenant: str = ""
    expires: float = 0.0
    created: float = 0.0


class KeyFile:
    """The file of the keys. It is read again when it has changed, so that a revoked key is refused at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._keys: Sequence[ApiKey] = ()

    def keys(self) -> Sequence[ApiKey]:
        """The keys that there are.

        Raises:
            SettingsError: The file cannot be read.
        """
        try:
            state = self._path.stat()
        except FileNotFoundError:
            return ()
        version = (state.st_mtime_ns, state.st_size, state.st_ino)
        if version != self._seen:
            self._keys, self._seen = _read(self._path), version
        return self._keys

    def add(self, key: ApiKey) -> None:
        """Store a key.

        Raises:
            SettingsError: There is one of that name, or the file cannot be read.
            StorageError: The file cannot be written.
        """
        if any(known.name == key.name for known in self.keys()):
            raise SettingsError(_VARIABLE, f"There is a key named {key.name!r} already. Revoke it first.")
        self._write([*self.keys(), key])

    def remove(self, name: str) -> bool:
        """Delete a key; whether there was one.

        Raises:
            SettingsError: The file cannot be read.
            StorageError: The file cannot be written.
        """
        left = [key for key in self.keys() if key.name != name]
        found = len(left) < len(self.keys())
        if found:
            self._write(left)
        return found

    def _write(self, keys: Sequence[ApiKey]) -> None:
        replace_file(self._path, json.dumps({"keys": [asdict(key) for key in keys]}, indent=1).encode())
        self._seen = None


def new_key(key: ApiKey) -> tuple[str, ApiKey]:
    """A new random key, and what is stored of it."""
    text = PREFIX + secrets.token_urlsafe(_KEY_BYTES)
    return text, replace(key, digest=_digest(text))


def owner_of_key(text: str, keys: Sequence[ApiKey], now: float) -> Principal:
    """The caller who has a key. All keys are compared, so that the response time reveals nothing.

    Raises:
        AuthRefused: There is no such key, or it has expired.
    """
    digest = _digest(text)
    found = [key for key in keys if hmac.compare_digest(key.digest, digest)]
    if not found:
        raise AuthRefused(RefusalReason.UNKNOWN_KEY)
    key = found[0]
    if key.expires and key.expires <= now:
        raise AuthRefused(RefusalReason.EXPIRED)
    return Principal(ISSUER, key.name, frozenset(key.scopes), tenant=key.tenant)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path) -> Sequence[ApiKey]:
    try:
        entries = json.loads(path.read_text("utf-8"))["keys"]
        return [_key(entry) for entry in entries]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(_VARIABLE, f"The file of API keys {path.name} cannot be read.") from error


def _key(entry: Mapping[str, object]) -> ApiKey:
    scopes, expires, created = entry["scopes"], entry.get("expires", 0.0), entry.get("created", 0.0)
    if (
        not isinstance(scopes, list)
        or not isinstance(expires, int | float)
        or not isinstance(created, int | float)
    ):
        raise TypeError("no key")
    texts = {name: str(entry.get(name, "")) for name in ("name", "digest", "tenant")}
    return ApiKey(scopes=tuple(map(str, scopes)), expires=float(expires), created=float(created), **texts)

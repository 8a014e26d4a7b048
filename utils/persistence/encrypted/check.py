"""Tells when a process starts whether its keys read what it stored last.

A known text, encrypted with the first key of the last start, is kept beside what it stands for: `encryption.check` in the
agent's folder, or a row of `secrets` in its schema.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from utils.encryption.codec import VARIABLE, Codec
from utils.encryption.errors import StorageUnreadable
from utils.errors import SettingsError, StorageError

if TYPE_CHECKING:
    from utils.persistence.postgres.pool import PostgresPool

NAME = "encryption.check"

_KNOWN = b"platform-engineer"

_PLACE = (NAME,)

MISSING = (
    "What this agent stored is encrypted, and none of the keys in ENCRYPTION_KEYS reads it. Add the key that was the "
    "first one in ENCRYPTION_KEYS at the last start. You may put other keys before it."
)
UNSET = (
    "What this agent stored is encrypted, and ENCRYPTION_KEYS is not set. Set it to the keys of the last start: without them "
    "the data cannot be read."
)


async def check_keys(codec: Codec, home: Path, database: PostgresPool | None) -> None:
    """Check the keys of an agent, and keep what the next start checks its own by.

    Raises:
        SettingsError: They do not read what was stored at the last start.
        StorageError: The check can be neither read nor kept.
    """
    if database is None:
        await asyncio.to_thread(_check_file, codec, home / NAME)
        return
    from utils.persistence.postgres.secrets import known_secret, replace_secret

    _check(codec, await known_secret(database, NAME))
    if codec.on:
        await replace_secret(database, NAME, codec.encrypt(_KNOWN, _PLACE))


def _check(codec: Codec, stored: bytes | None) -> None:
    if stored is None:
        return
    try:
        codec.decrypt(stored, _PLACE)
    except StorageUnreadable as error:
        raise SettingsError(VARIABLE, MISSING if codec.keys else UNSET) from error


def _check_file(codec: Codec, file: Path) -> None:
    try:
        _check(codec, file.read_bytes() if file.exists() else None)
        if codec.on:
            _write(file, codec.encrypt(_KNOWN, _PLACE))
    except OSError as error:
        raise StorageError("The folder of PLATFORM_ENGINEER_HOME cannot be written.") from error


def _write(file: Path, content: bytes) -> None:
    """Put the whole file there at once: a half of it would read as a missing key."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f"{file.name}.new")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as opened:
        opened.write(content)
    beside.replace(file)

"""The lines that were typed into the chat, which a file keeps for the arrow keys; those of a deleted conversation go with it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from utils.atomic_file import replace_file
from utils.encryption.codec import PLAIN, Codec
from utils.encryption.errors import StorageUnreadable
from utils.errors import StorageError, StorageFull

FILE = "chat_history"
"""Name in the data folder."""

PLACE = (FILE,)
"""Where its lines belong, as what encrypts them has it."""


def forget(home: Path, said: Collection[str], codec: Codec = PLAIN) -> None:
    """Rewrite the file without the entries that say one of these texts; a chat that is open reads it anew when it begins.

    `codec` reads entries that are encrypted.

    Raises:
        StorageError: The file cannot be written.
    """
    file = home / FILE
    texts = {text.strip() for text in said if text.strip()}
    if not texts or not file.exists():
        return
    _rewrite(file, lambda content: without(content, texts, codec))


def _rewrite(file: Path, change: Callable[[bytes], bytes]) -> None:
    try:
        replace_file(file, change(file.read_bytes()))
    except StorageFull:
        raise
    except StorageError as error:
        raise StorageError(f"{error.message} So what you typed stays in it.") from error
    except OSError as error:
        raise StorageError(
            f"{file} cannot be written, so what you typed stays in it: {error.strerror}."
        ) from error


def without(content: bytes, texts: Collection[str], codec: Codec = PLAIN) -> bytes:
    """The content without these entries. An entry is a line that begins with #, then its lines, each behind a +. Pure."""
    kept: list[bytes] = []
    for entry in content.split(b"\n# "):
        typed = b"\n".join(line[1:] for line in entry.split(b"\n") if line.startswith(b"+"))
        if _read(typed.decode("utf-8", "replace"), codec).strip() not in texts:
            kept.append(entry)
    return b"\n# ".join(kept)


def renew(home: Path, codec: Codec) -> None:
    """Rewrite the file with each entry encrypted by the first key; one that cannot be read stays as it is.

    Raises:
        StorageError: The file cannot be written.
    """
    file = home / FILE
    if codec.on and file.exists():
        _rewrite(file, lambda content: renewed(content, codec))


def renewed(content: bytes, codec: Codec) -> bytes:
    """The content with each entry encrypted by the first key. Pure."""
    entries = []
    for entry in content.split(b"\n# "):
        lines = entry.split(b"\n")
        typed = b"\n".join(line[1:] for line in lines if line.startswith(b"+")).decode("utf-8", "replace")
        said = _read(typed, codec)
        if said and not codec.is_current(typed):
            rest = [line for line in lines if not line.startswith(b"+")]
            lines = [rest[0], b"+" + codec.encrypt_text(said, PLACE).encode(), *rest[1:]]
        entries.append(b"\n".join(lines))
    return b"\n# ".join(entries)


def _read(typed: str, codec: Codec) -> str:
    """The typed lines; empty if no key decrypts them."""
    with suppress(StorageUnreadable):
        return codec.decrypt_text(typed, PLACE)
    return ""

"""Where a SQLite database is: a file, or the memory of this process."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A database in memory, which all connections of this process share.

    Attributes:
        folder: Tells databases of the same name apart.
        name: Such as `tasks.sqlite`.
    """

    folder: str
    name: str

    @property
    def stem(self) -> str:
        """The name without its suffix, as of a path."""
        return Path(self.name).stem

    @property
    def uri(self) -> str:
        """Names it to SQLite: its VFS `memdb` shares a database whose name begins with a slash."""
        return f"file:/{self.folder}/{self.name}?vfs=memdb"


SqliteFile = Path | MemoryFile

FileId = tuple[int, int]


def file_id(path: SqliteFile) -> FileId | None:
    """Device and inode of the file that is at a path now; `None` if there is none, and for a database in memory."""
    if isinstance(path, MemoryFile):
        return None
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


class MemoryFolder:
    """Databases in memory by name, each kept until the folder is closed."""

    def __init__(self) -> None:
        self._id = uuid4().hex
        self._kept: dict[str, sqlite3.Connection] = {}

    def __truediv__(self, name: str) -> MemoryFile:
        """The database of a name; SQLite forgets one without connections, so one stays open."""
        file = MemoryFile(self._id, name)
        if name not in self._kept:
            self._kept[name] = sqlite3.connect(file.uri, uri=True, check_same_thread=False)
        return file

    def sizes(self) -> dict[str, int]:
        """Bytes by the stem of each database."""
        return {MemoryFile(self._id, name).stem: self._size(name) for name in sorted(self._kept)}

    def _size(self, name: str) -> int:
        with closing(sqlite3.connect(MemoryFile(self._id, name).uri, uri=True)) as connection:
            pages, size = (
                connection.execute(f"PRAGMA {about}").fetchone()[0] for about in ("page_count", "page_size")
            )
            return int(pages * size)

    def in_use(self, kinds: tuple[str, ...]) -> dict[str, int]:
        """Bytes in use of the database of each kind."""
        from utils.persistence.in_use import used_by

        return {
            kind: used_by(self._kept[f"{kind}.sqlite"]) for kind in kinds if f"{kind}.sqlite" in self._kept
        }

    def close(self) -> None:
        """Forget every database that no other connection uses."""
        while self._kept:
            self._kept.popitem()[1].close()


SqliteFolder = Path | MemoryFolder

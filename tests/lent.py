"""A folder that one test after the other changes, and that is as it was at the beginning of each."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_TICK_NS = 50_000_000
"""Longer than the steps of the time that a file system notes for a change."""


@dataclass(frozen=True)
class _File:
    """What a file was: its inode and the time of its last change, by which a change is seen, and what it held.

    `fresh`: it had just been changed, so that another change may have got the same time.
    """

    look: tuple[int, ...]
    content: bytes
    times: tuple[int, int]
    fresh: bool


class LentFolder:
    """Knows what a folder holds. Copying a checkout costs a second of the processor, looking through it a hundredth of that.

    Args:
        folder: The folder, with everything that a test expects in it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._folders = {Path(at) for at, _, _ in os.walk(folder)}
        self._files = {path: self._file(path) for path in self._paths()}

    def restore(self) -> None:
        """Take out what was added, and write again what was changed or removed; bytecode of files that stay is kept."""
        for at, folders, _ in os.walk(self.folder):
            for name in [name for name in folders if not self._stays(Path(at, name))]:
                folders.remove(name)
                shutil.rmtree(Path(at, name))
        present = set(self._paths())
        for path in present - self._files.keys():
            path.unlink()
        for folder in self._folders:
            folder.mkdir(parents=True, exist_ok=True)
        for path, before in self._files.items():
            if (
                path not in present
                or _look(path) != before.look
                or (before.fresh and _held(path) != before.content)
            ):
                path.unlink(missing_ok=True)
                path.write_bytes(before.content)
                path.chmod(before.look[2])
                os.utime(path, ns=before.times)
                self._files[path] = self._file(path)

    def _stays(self, folder: Path) -> bool:
        return folder in self._folders or folder.is_symlink() or folder.name == "__pycache__"

    def _paths(self) -> Iterator[Path]:
        for at, folders, names in os.walk(self.folder):
            if "__pycache__" in folders:
                folders.remove("__pycache__")
            links = [name for name in folders if Path(at, name).is_symlink()]
            yield from (Path(at, name) for name in [*names, *links])

    def _file(self, path: Path) -> _File:
        found = path.lstat()
        fresh = time.time_ns() - found.st_ctime_ns < _TICK_NS
        return _File(_look(path), _held(path), (found.st_atime_ns, found.st_mtime_ns), fresh)


def _held(path: Path) -> bytes:
    return b"" if path.is_symlink() else path.read_bytes()


def _look(path: Path) -> tuple[int, ...]:
    found = path.lstat()
    return found.st_ino, found.st_ctime_ns, found.st_mode & 0o7777

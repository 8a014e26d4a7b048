"""Files that an agent returned: those that came as bytes are saved, those at an address are named with it."""

from __future__ import annotations

import asyncio
import hashlib
import mimetypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from utils.a2a_common.client.delegation.part_text import described, where
from utils.a2a_common.client.delegation.task_view import TaskView
from utils.a2a_common.protocol.file_names import safe_file_name
from utils.atomic_file import write_new
from utils.events import ContentPart, FileBytes, FileUrl

LARGEST_FILE = 25_000_000
"""Bytes of a file that is saved."""

MOST_FILES = 100
"""Files of one answer that are saved."""

_MOST_NUMBERED = 1_000


@dataclass(frozen=True, slots=True)
class FileResult:
    """The outcome of one download.

    Attributes:
        sentence: Says it to the person.
        name: As the agent calls it.
        media_type: As the agent calls it.
        path: Where it was saved; `None` where it was not.
        url: Where it is, for one that came as an address.
    """

    sentence: str
    name: str
    media_type: str
    path: Path | None = None
    url: str = ""

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        path = None if self.path is None else str(self.path)
        return {"name": self.name, "media_type": self.media_type, "path": path, "url": self.url or None}


class Downloads:
    """Saves the files of a conversation's answers, each once.

    Args:
        folder: Where they go; made when the first one is saved.
        largest: Bytes of a file that is saved.
    """

    def __init__(self, folder: Path, largest: int = LARGEST_FILE) -> None:
        self._folder = folder.absolute()
        self._largest = largest
        self._known: set[str] = set()

    async def save(self, task: TaskView) -> list[FileResult]:
        """Save the new files of a task, or of a plain message."""
        return await asyncio.to_thread(lambda: list(self._save_all(task)))

    def _save_all(self, task: TaskView) -> Iterator[FileResult]:
        files = [part for part in _parts(task) if isinstance(part, FileBytes | FileUrl)]
        for file in files[:MOST_FILES]:
            if (key := _key(file)) not in self._known:
                self._known.add(key)
                yield self._take(file)

    def _take(self, file: FileBytes | FileUrl) -> FileResult:
        if isinstance(file, FileUrl):
            return FileResult(
                f"{described(file)} {where(file.url)}", file.name, file.media_type, url=file.url
            )
        if len(file.content) > self._largest:
            return _not_saved(file, f"it is larger than {self._largest:,} bytes")
        try:
            path = self._write(file)
        except OSError as error:
            return _not_saved(file, error.strerror or type(error).__name__)
        return FileResult(f"{described(file)} was saved as {path}", file.name, file.media_type, path)

    def _write(self, file: FileBytes) -> Path:
        """Write it under a name of its own: what stands there already is never changed."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = Path(_safe_name(file))
        for number in range(1, _MOST_NUMBERED + 1):
            path = self._folder / (name.name if number == 1 else f"{name.stem}-{number}{name.suffix}")
            try:
                write_new(path, file.content)
            except FileExistsError:
                continue
            return path
        raise FileExistsError(None, f"there are {_MOST_NUMBERED:,} files of that name")


def _parts(task: TaskView) -> Iterator[ContentPart]:
    for artifact in task.artifacts.values():
        yield from artifact.parts
    yield from task.status


def _safe_name(file: FileBytes) -> str:
    if file.name:
        return safe_file_name(file.name)
    return f"file{mimetypes.guess_extension(file.media_type) or ''}"


def _key(file: FileBytes | FileUrl) -> str:
    """The same for the same file, which a task that is read again names again."""
    content = file.content if isinstance(file, FileBytes) else file.url.encode()
    return hashlib.sha256(b"\0".join([file.name.encode(), content])).hexdigest()


def _not_saved(file: FileBytes, why: str) -> FileResult:
    return FileResult(f"{described(file)} was not saved: {why}.", file.name, file.media_type)

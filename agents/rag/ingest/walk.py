"""The files of a folder, in a stable order, without hidden ones, loops or what is no document."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from agents.rag.ingest.load import is_document_name

_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or folder: its path as it was reached, and where it really is."""

    path: Path
    real: Path


@dataclass(frozen=True, slots=True)
class Walked:
    """What a walk met: documents in order, and folders that could not be read."""

    files: list[Entry] = field(default_factory=list)
    unreadable: list[Path] = field(default_factory=list)


def walk(folder: Path) -> Walked:
    """Documents under `folder`, depth first, by name.

    Hidden files and folders and dependency folders are left out without a word. Symbolic links are
    followed inside the folder only, and no folder is entered twice, so that loops end.
    """
    root = folder.resolve()
    walked, entered, waiting = Walked(), set[Path](), [Entry(folder, root)]
    while waiting:
        here = waiting.pop()
        if here.real in entered:
            continue
        entered.add(here.real)
        try:
            with os.scandir(here.path) as listing:
                found = sorted(listing, key=lambda each: each.name)
        except OSError:
            walked.unreadable.append(here.path)
            continue
        walked.files.extend(_documents(found, here, root))
        waiting.extend(reversed(list(_folders(found, here, root))))
    return walked


def _documents(found: list[os.DirEntry[str]], here: Entry, root: Path) -> Iterator[Entry]:
    for each in found:
        if not each.name.startswith(".") and is_document_name(each.name) and _is(each.is_file):
            yield from _inside(each, here, root)


def _folders(found: list[os.DirEntry[str]], here: Entry, root: Path) -> Iterator[Entry]:
    for each in found:
        hidden = each.name.startswith(".") or each.name in _SKIPPED_FOLDERS
        if not hidden and _is(each.is_dir):
            yield from _inside(each, here, root)


def _is(kind: Callable[[], bool]) -> bool:
    """Whether it is of a kind; a link that leads to itself is of none."""
    try:
        return kind()
    except OSError:
        return False


def _inside(each: os.DirEntry[str], here: Entry, root: Path) -> Iterator[Entry]:
    """The entry, unless it is a link that leads out."""
    path = Path(each.path)
    real = path.resolve() if each.is_symlink() else here.real / each.name
    if real.is_relative_to(root):
        yield Entry(path, real)

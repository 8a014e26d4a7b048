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
    """What a walk met: documents in order, folders that could not be read, and links that lead out of the folder, or nowhere."""

    files: list[Entry] = field(default_factory=list)
    unreadable: list[Path] = field(default_factory=list)
    leading_out: list[Path] = field(default_factory=list)
    leading_nowhere: list[Path] = field(default_factory=list)


def walk(folder: Path) -> Walked:
    """Documents under `folder`, depth first, by name.

    Hidden files and folders and dependency folders are left out without a word. Symbolic links are
    followed inside the folder only, so that a folder of documents does not publish what lies elsewhere; the others are
    named. No folder is entered twice, so that loops end.
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
        documents, folders = list(_documents(found)), list(_folders(found))
        dead = [each for each in documents if each.is_symlink() and not Path(each.path).exists()]
        walked.leading_nowhere.extend(Path(each.path) for each in dead)
        files = [each for each in documents if _is(each.is_file)]
        walked.files.extend(_inside(files, here, root))
        waiting.extend(reversed(list(_inside(folders, here, root))))
        walked.leading_out.extend(_outside([*files, *folders], root))
    return walked


def _documents(found: list[os.DirEntry[str]]) -> Iterator[os.DirEntry[str]]:
    for each in found:
        if not each.name.startswith(".") and is_document_name(each.name):
            yield each


def _folders(found: list[os.DirEntry[str]]) -> Iterator[os.DirEntry[str]]:
    for each in found:
        hidden = each.name.startswith(".") or each.name in _SKIPPED_FOLDERS
        if not hidden and _is(each.is_dir):
            yield each


def _is(kind: Callable[[], bool]) -> bool:
    """Whether it is of a kind; a link that leads to itself is of none."""
    try:
        return kind()
    except OSError:
        return False


def _inside(found: list[os.DirEntry[str]], here: Entry, root: Path) -> Iterator[Entry]:
    """The entries, without links that lead out."""
    for each in found:
        path = Path(each.path)
        real = path.resolve() if each.is_symlink() else here.real / each.name
        if real.is_relative_to(root):
            yield Entry(path, real)


def _outside(found: list[os.DirEntry[str]], root: Path) -> Iterator[Path]:
    """The links that lead out."""
    for each in found:
        if each.is_symlink() and not Path(each.path).resolve().is_relative_to(root):
            yield Path(each.path)

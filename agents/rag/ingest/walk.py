"""The files of a folder, in a stable order, without hidden ones, loops or what is no document."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from agents.rag.ingest.load import is_document_name

_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


def walk(folder: Path) -> Iterator[Path]:
    """Documents under `folder`, depth first, by name.

    Hidden files and folders and dependency folders are left out without a word. Symbolic links are
    followed inside the folder only, and no folder is entered twice, so that loops end.
    """
    yield from _walk(folder, folder.resolve(), set())


def _walk(folder: Path, root: Path, entered: set[Path]) -> Iterator[Path]:
    real = folder.resolve()
    if real in entered or not real.is_relative_to(root):
        return
    entered.add(real)
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: (entry.is_dir(), entry.name))
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        path = Path(entry.path)
        if entry.is_dir():
            if entry.name not in _SKIPPED_FOLDERS:
                yield from _walk(path, root, entered)
        elif entry.is_file() and is_document_name(entry.name) and path.resolve().is_relative_to(root):
            yield path

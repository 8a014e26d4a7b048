"""The files that a pull request, a commit or a comparison changes."""

from __future__ import annotations

from collections.abc import Sequence

from agents.github.client import Row
from agents.github.tools.project import clip, text

_PATCHES = 6_000
"""Characters kept of all patches together."""


def changed_file(raw: Row) -> str:
    """A file in a line: "src/main.py (modified, +10 -2)"."""
    return f"{raw.get('filename')} ({raw.get('status')}, +{raw.get('additions')} -{raw.get('deletions')})"


def patches(files: Sequence[Row]) -> str:
    """The changed lines of files, each under its name; binary and very large files have none."""
    parts = [f"--- {row.get('filename')}\n{row['patch']}" for row in files if text(row.get("patch"))]
    return clip("\n".join(parts), _PATCHES)

"""The built page: its files, read once, each as a browser gets it.

The source is `multi_agents/web`; its build writes here, so that every agent has the page without knowing its source.
"""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent / "built"

INDEX = "index.html"

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file of the page.

    Attributes:
        content: Its bytes.
        packed: The same, compressed with gzip.
        media_type: Its type.
        tag: Changes with the content.
    """

    content: bytes
    packed: bytes
    media_type: str
    tag: str


@cache
def page_files() -> dict[str, PageFile]:
    """The files by their names; empty where the page was not built."""
    return {path.name: _read(path) for path in sorted(_FOLDER.rglob("*")) if path.suffix in _TYPES}


def _read(path: Path) -> PageFile:
    content = path.read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    return PageFile(content, gzip.compress(content, 9, mtime=0), _TYPES[path.suffix], tag)

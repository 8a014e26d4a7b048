"""How a document is called in answers: never by a path of this machine."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

REPOSITORY = Path(__file__).resolve().parents[3]
"""The checkout (or the image's application folder): files in it are named from here."""


def is_url(target: str) -> bool:
    """Whether an argument means a page rather than a path."""
    return "://" in target


def name_of_file(path: Path, root: Path) -> str:
    """`docs/a.md` for a file of the repository, else the root folder's name and the path below it."""
    real = path.absolute()
    if real.is_relative_to(REPOSITORY):
        return real.relative_to(REPOSITORY).as_posix()
    if real == root.absolute():
        return real.name
    return (Path(root.absolute().name) / real.relative_to(root.absolute())).as_posix()


def name_of_url(url: str) -> str:
    """The address without user name, password and fragment."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme.lower(), host.lower(), parts.path or "/", parts.query, ""))


def title_of(name: str) -> str:
    """A title for a document that has none: its file name without the ending."""
    last = name.rstrip("/").rpartition("/")[2] or name
    stem = last.rpartition(".")[0] or last
    return stem.replace("-", " ").replace("_", " ").strip() or name

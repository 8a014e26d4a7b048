"""How a document is called in answers: never by a path of this machine."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

REPOSITORY = Path(__file__).resolve().parents[3]
"""The checkout (or the image's application folder): files in it are named from here."""

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_BYTE = re.compile(r"[\udc80-\udcff]")
"""How Python writes a byte of a file name that is not UTF-8: 0xdc00 and the byte."""
_STORED_BYTE = re.compile(r"\0([0-9a-f]{2})")


def is_url(target: str) -> bool:
    """Whether an argument means a page rather than a path."""
    return "://" in target


def name_of_file(path: Path, root: Path) -> str:
    """`docs/a.md` for a file of the repository, else the root folder's name and the path below it."""
    real = path.absolute()
    if real.is_relative_to(REPOSITORY):
        return printable(real.relative_to(REPOSITORY).as_posix())
    if real == root.absolute():
        return printable(real.name)
    return printable((Path(root.absolute().name) / real.relative_to(root.absolute())).as_posix())


def name_of_url(url: str) -> str:
    """The address without user name, password and fragment.

    Raises:
        ValueError: It is none.
    """
    parts = urlsplit(printable(url))
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme.lower(), host.lower(), parts.path or "/", parts.query, ""))


def location_of(path: Path) -> str:
    """A path as it is stored: itself, but for bytes that are not UTF-8, which no database takes as text.

    Such a byte becomes a NUL, which no path holds, and two hexadecimal digits; `path_at` reads it back.
    """
    return _BYTE.sub(lambda byte: f"\0{ord(byte[0]) - 0xDC00:02x}", str(path))


def path_at(location: str) -> Path:
    """The path that is stored as `location`."""
    return Path(_STORED_BYTE.sub(lambda stored: chr(0xDC00 + int(stored[1], 16)), location))


def printable(name: str) -> str:
    r"""The name on one line, with `\n` or `\xff` for what a line, a terminal or a database cannot take."""
    return _UNPRINTABLE.sub(lambda found: _escaped(found[0]), name)


def _escaped(character: str) -> str:
    if _BYTE.fullmatch(character):
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def title_of(name: str) -> str:
    """A title for a document that has none: its file name without the ending."""
    last = name.rstrip("/").rpartition("/")[2] or name
    stem = last.rpartition(".")[0] or last
    return stem.replace("-", " ").replace("_", " ").strip() or name

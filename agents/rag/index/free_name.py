"""Names for a document whose own name another document has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count


def names_for(source: str) -> Iterator[str]:
    """The name itself, then `a~2.md`, `a~3.md` and so on, without end."""
    stem, dot, suffix = source.rpartition(".")
    yield source
    for number in count(2):
        yield f"{stem}~{number}.{suffix}" if dot and "/" not in suffix else f"{source}~{number}"

"""Finds names in a `.env` file or in the environment that look like a setting but are none. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

OWN_PREFIXES = ("LLM_", "RAG_", "SUB_AGENT", "EMBEDDINGS_", "TASK_BUDGET_")
"""Prefixes that hardly any other program uses; GITHUB_, AWS_, OPENAI_, OTEL_ and MCP_ are used by others too."""

_FOREIGN = frozenset({"SSL_CERT_FILE", "SSL_CERT_DIR"})
"""Names that OpenSSL reads, and that resemble settings of this service."""

_SHORTEST = 6
"""Shorter names resemble too many others, as HOST resembles HOME."""
_LONG = 8
"""Names of at least this length may differ in two characters."""


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name that is not a setting.

    Attributes:
        name: As written.
        meant: The setting that it resembles, if any.
        own_prefix: Whether it has a prefix that only settings of this service have.
    """

    name: str
    meant: str | None
    own_prefix: bool

    @property
    def suspicious(self) -> bool:
        """Whether it is probably a misspelt setting."""
        return self.meant is not None or self.own_prefix


def unknown_names(given: Iterable[str], known: Collection[str]) -> list[UnknownName]:
    """The names among `given` that are not `known`, in their order."""
    return [
        UnknownName(name, _nearest(name, known), name.upper().startswith(OWN_PREFIXES))
        for name in given
        if name not in known
    ]


def _nearest(name: str, known: Collection[str]) -> str | None:
    if name.upper() in known:
        return name.upper()
    if name in _FOREIGN:
        return None
    most = 0 if len(name) < _SHORTEST else 1 if len(name) < _LONG else 2
    letters = set(name.upper())
    near = (
        other
        for other in known
        if abs(len(other) - len(name)) <= most and len(letters ^ set(other)) <= 2 * most
    )  # a cheap filter first, since an environment may hold hundreds of names
    found = [(distance(name.upper(), other), other) for other in near]
    return min((each for each in found if each[0] <= most), default=(0, None))[1]


def distance(one: str, other: str) -> int:
    """The Damerau-Levenshtein distance: insertions, deletions, substitutions and swaps of neighbours."""
    before, last = list[int](), list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, second in enumerate(other, 1):
            least = min(last[column] + 1, line[-1] + 1, last[column - 1] + (letter != second))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == second:
                least = min(least, before[column - 2] + 1)
            line.append(least)
        before, last = last, line
    return last[-1]

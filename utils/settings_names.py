"""Names in a `.env` file or in the environment that look like a setting and are none. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

OURS = ("LLM_", "RAG_", "SUB_AGENT", "EMBEDDINGS_", "TASK_BUDGET_")
"""Beginnings of names that other programs hardly use; GITHUB_, AWS_, OPENAI_, OTEL_ and MCP_ belong to others as well."""

_OF_OTHERS = frozenset({"SSL_CERT_FILE", "SSL_CERT_DIR"})
"""Names that OpenSSL reads, and that are near to names of ours."""

_SHORTEST = 6
"""Shorter names are near to too many others, as HOST is to HOME."""
_LONG = 8
"""From this length on a name may differ in two places."""


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name that no setting has.

    Attributes:
        name: As it is written.
        meant: The setting that it nearly is, if any.
        ours: Whether it begins as only settings of this service do.
    """

    name: str
    meant: str | None
    ours: bool

    @property
    def suspicious(self) -> bool:
        """Whether a setting was meant, as far as can be told."""
        return self.meant is not None or self.ours


def unknown_names(given: Iterable[str], known: Collection[str]) -> list[UnknownName]:
    """The names among `given` that are not `known`, in their order."""
    return [
        UnknownName(name, _nearest(name, known), name.upper().startswith(OURS))
        for name in given
        if name not in known
    ]


def _nearest(name: str, known: Collection[str]) -> str | None:
    if name.upper() in known:
        return name.upper()
    if name in _OF_OTHERS:
        return None
    most = 0 if len(name) < _SHORTEST else 1 if len(name) < _LONG else 2
    letters = set(name.upper())
    near = (
        other
        for other in known
        if abs(len(other) - len(name)) <= most and len(letters ^ set(other)) <= 2 * most
    )  # what most names fail is told at once, since an environment may hold hundreds
    found = [(distance(name.upper(), other), other) for other in near]
    return min((each for each in found if each[0] <= most), default=(0, None))[1]


def distance(one: str, other: str) -> int:
    """How many letters must be added, removed, changed or swapped with their neighbour."""
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

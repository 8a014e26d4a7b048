"""Parses and writes tool results that are JSON lists, most relevant entry first. Pure.

`articles` holds passages with a `content` each; `items` holds rows. Other results are handled by the
other strategies.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

LIST_KEYS = ("articles", "items")
_TOTAL = "listed"
"""Key of the number of entries that a list had before it was cut."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A list result: `key` is the key of the list in `value`."""

    value: dict[str, Any]
    key: str

    @property
    def entries(self) -> list[dict[str, Any]]:
        """The entries, most relevant first."""
        return list(self.value[self.key])

    def with_entries(self, entries: list[dict[str, Any]], note: str | None = None) -> Ranked:
        """The result with these entries, and with `note` appended to its remark for the model."""
        value = {**self.value, self.key: entries}
        if note:
            value["note"] = f"{value['note']} {note}" if value.get("note") else note
        return Ranked(value, self.key)

    def dump(self) -> str:
        """Compact JSON."""
        return json.dumps(self.value, ensure_ascii=False, separators=(",", ":"), default=str)


def parse_ranked(text: object) -> Ranked | None:
    """Parse a tool's text as a list result; `None` if it is none. Never raises."""
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    for key in LIST_KEYS:
        entries = value.get(key)
        if isinstance(entries, list) and entries and all(isinstance(entry, dict) for entry in entries):
            return Ranked(value, key)
    return None


def article_text(entry: dict[str, Any]) -> str:
    """The passage of an article; empty if it has none."""
    content = entry.get("content")
    return content if isinstance(content, str) else ""


def is_compressed(entry: dict[str, Any]) -> bool:
    """Whether this article is compressed."""
    metadata = entry.get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("compressed"))


def capped(ranked: Ranked, fits: Callable[[str], bool], handle: str) -> str:
    """As many first entries as fit, at least one, with a note about the rest.

    A list that was cut before is cut again from what is left of it, with one note about the original list.
    """
    entries = ranked.entries
    low, high = 1, len(entries)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(_first(ranked, middle, handle)):
            low = middle
        else:
            high = middle - 1
    return _first(ranked, low, handle)


def _first(ranked: Ranked, count: int, handle: str) -> str:
    entries, before = ranked.entries, ranked.value.get(_TOTAL)
    total = before if isinstance(before, int) else len(entries)
    note = str(ranked.value.get("note") or "").replace(_note(ranked, len(entries), total, handle), "")
    value = {**ranked.value, ranked.key: entries[:count], "note": note.strip(), _TOTAL: total}
    return Ranked(value, ranked.key).with_entries(entries[:count], _note(ranked, count, total, handle)).dump()


def _note(ranked: Ranked, count: int, total: int, handle: str) -> str:
    noun = "articles" if ranked.key == "articles" else str(ranked.value.get("kind") or "items")
    return f'{count} of {total} {noun}; read_tool_output("{handle}") reads all.'

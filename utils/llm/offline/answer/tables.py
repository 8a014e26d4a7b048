"""Rows as a Markdown table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from utils.messages.results import Items

CELL = 100
"""Longest cell in characters; more makes a table unreadable in a terminal."""
LINKS = ("html_url", "url", "link", "web_url")
_FIRST = ("number", "id", "run_id", "sha", "tag", "name", "title", "path", "source")
_TIME = re.compile(r"^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?$")


def items_text(items: Items, context: str = "") -> str:
    """A list of things as a table with a line above (how many) and below (remark, address).

    Args:
        items: The rows.
        context: What the list was limited to: "octocat/hello-world, open".
    """
    where = f" — {context}" if context else ""
    if not items.items:
        return joined(f"There are no {items.kind}{where}.", items.note or "", _source(items.source))
    head = f"**{count(items)}**{where}"
    return joined(head, table(items.items), items.note or "", _source(items.source))


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a Markdown table. Columns that are empty everywhere are left out; an address becomes a link."""
    link = next((name for name in LINKS if any(row.get(name) for row in rows)), None)
    columns = _columns(rows, link)
    lines = [
        _line(["#" if name == "number" else title(name) for name in columns]),
        _line(["---"] * len(columns)),
    ]
    for row in rows:
        cells = [cell(row.get(name)) for name in columns]
        if link and row.get(link):
            mark = "#" if columns[0] == "number" else ""
            cells[0] = f"[{mark}{cells[0]}]({row[link]})"
        lines.append(_line(cells))
    return "\n".join(lines)


def cell(value: object) -> str:
    """A value as it stands in a table: one line, short, no character that ends a cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else _moment(str(value))
    text = " ".join(text.split())
    text = f"{text[: CELL - 1].rstrip()}…" if len(text) > CELL else text
    return text.replace("|", "\\|")


def _moment(text: str) -> str:
    """An ISO time as people write it: "2026-03-18 12:00"."""
    match = _TIME.match(text)
    return f"{match[1]} {match[2]}" if match else text


def _columns(rows: Sequence[Mapping[str, Any]], link: str | None) -> list[str]:
    names = dict.fromkeys(name for row in rows for name in row)
    filled = [
        name
        for name in names
        if name not in LINKS and any(row.get(name) not in (None, "", []) for row in rows)
    ]
    first = [name for name in _FIRST if name in filled]
    return [*first, *(name for name in filled if name not in first)] if link else filled


def title(name: str) -> str:
    """The name of a field for people."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def count(items: Items) -> str:
    """How many rows there are: "60 issues, 2 shown"."""
    shown = len(items.items)
    kind = _singular(items.kind) if shown == 1 and (items.total or 1) == 1 else items.kind
    if items.total is not None and items.total > shown:
        return f"{items.total} {kind}, {shown} shown"
    return f"{shown} {kind}"


def _singular(kind: str) -> str:
    return f"{kind.removesuffix('ies')}y" if kind.endswith("ies") else kind.removesuffix("s")


def _source(address: str | None) -> str:
    return f"Source: {address}" if address else ""


def joined(*parts: str) -> str:
    """The parts that say something, a paragraph each."""
    return "\n\n".join(part for part in parts if part)

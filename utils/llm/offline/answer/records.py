"""Rows as a Markdown table; one thing as a list of its fields, with its long texts in fenced blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from utils.llm.offline.grammar import FORMS
from utils.llm.offline.words import content_stems
from utils.messages.results import Items, Record

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
    rows = [f"**{count(items)}**{where}", table(items.items)]
    shown = rows if items.items else [f"There are no {items.kind}{where}."]
    return joined(*shown, items.note or "", f"Source: {items.source}" if items.source else "")


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
    if kind.endswith("ies"):
        return f"{kind.removesuffix('ies')}y"
    return kind.removesuffix("es" if kind.endswith(("ches", "shes", "xes", "sses")) else "s")


def joined(*parts: str) -> str:
    """The parts that say something, a paragraph each."""
    return "\n\n".join(part for part in parts if part)


LONG = 160
"""Characters from which a value stands in a block of its own; a value of several lines always does."""
HEAD_LINES = 40
TAIL_LINES = 20
LOG_HEAD_LINES = 10
LOG_TAIL_LINES = 60
"""A log is read from its end: that is where the failure stands."""
LINE = 400
"""Longest line of a block in characters: minified files and base64 have no line ends."""
NOT_GIVEN = "not given"
_EMPTY: tuple[object, ...] = (None, "", [], {})
_TITLES = ("title", "name", "path", "subject", "headline")
_FENCES = {"diff": "diff", "patch": "diff", "json": "json"}


def record_text(record: Record, asked: str = "") -> str:
    """A record as Markdown: a heading line, short fields as a list, long fields in blocks, remark and address.

    A field without a value is named where the question has its name.
    """
    wanted = set(content_stems(FORMS["state_words"].sub(" ", asked)))
    item = {
        name: NOT_GIVEN if value in _EMPTY else value
        for name, value in record.item.items()
        if value not in _EMPTY or (wanted and (own := set(content_stems(title(name)))) and own <= wanted)
    }
    link = next((str(item[name]) for name in LINKS if item.get(name)), None)
    parts = [_heading(record.kind, item), _fields(item, link)]
    parts += [_long(name, value, item) for name, value in item.items() if _is_long(value)]
    source = record.source if record.source != link else None
    parts += [record.note or "", f"Source: {source}" if source else ""]
    return "\n\n".join(part for part in parts if part)


def shortened(text: str, head: int = HEAD_LINES, tail: int = TAIL_LINES) -> str:
    """A text's first and last lines, with a line between them that says how many are missing."""
    lines = [line if len(line) <= LINE else f"{line[:LINE]}…" for line in text.strip("\n").split("\n")]
    left_out = len(lines) - head - tail
    if left_out <= 1:
        return "\n".join(lines)
    return "\n".join([*lines[:head], f"… {left_out} lines left out …", *lines[-tail:]])


def fenced(text: str, language: str = "") -> str:
    """A text in a fence that it does not contain itself."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _heading(kind: str, item: Mapping[str, Any]) -> str:
    number = f" #{item['number']}" if "number" in item else ""
    called = next((str(item[name]) for name in _TITLES if item.get(name)), "")
    label = f"{kind[:1].upper()}{kind[1:]}{number}"
    return f"**{label}: {' '.join(called.split())}**" if called else f"**{label}**"


def _fields(item: Mapping[str, Any], link: str | None) -> str:
    shown = [
        f"- {title(name)}: {cell(value)}"
        for name, value in item.items()
        if name not in {*LINKS, *_TITLES, "number"} and not _is_long(value)
    ]
    return "\n".join([*shown, f"- Link: {link}"] if link else shown)


def _is_long(value: object) -> bool:
    if isinstance(value, str):
        return len(value) > LONG or "\n" in value.strip()
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(part, dict) for part in value)
    )


def _long(name: str, value: object, item: Mapping[str, Any]) -> str:
    head = f"{title(name)}:"
    if not isinstance(value, str):
        return f"{head}\n\n{fenced(shortened(json.dumps(value, indent=2, default=str)), 'json')}"
    log = bool(FORMS["log"].search(name))
    sizes = (LOG_HEAD_LINES, LOG_TAIL_LINES) if log else (HEAD_LINES, TAIL_LINES)
    return f"{head}\n\n{fenced(shortened(str(value), *sizes), _language(name, item))}"


def _language(name: str, item: Mapping[str, Any]) -> str:
    if name in _FENCES:
        return _FENCES[name]
    path = str(item.get("path", ""))
    is_file = name in {"content", "text", "contents"} and "." in path
    return path.rsplit(".", 1)[-1] if is_file else ""

"""One thing as a list of its fields, with its long texts in fenced blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from utils.llm.offline.answer.tables import LINKS, cell, table, title
from utils.llm.offline.grammar import FORMS
from utils.llm.offline.words import content_stems
from utils.messages.results import Record

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
    if isinstance(value, list) and all(isinstance(part, dict) for part in value):
        return f"{head}\n\n{table(value)}"
    if isinstance(value, list):
        return "\n".join([head, "", *(f"- {cell(part)}" for part in value)])
    if isinstance(value, dict):
        return "\n".join([head, "", *(f"- {title(key)}: {cell(part)}" for key, part in value.items())])
    log = bool(FORMS["log"].search(name))
    sizes = (LOG_HEAD_LINES, LOG_TAIL_LINES) if log else (HEAD_LINES, TAIL_LINES)
    return f"{head}\n\n{fenced(shortened(str(value), *sizes), _language(name, item))}"


def _language(name: str, item: Mapping[str, Any]) -> str:
    if name in _FENCES:
        return _FENCES[name]
    path = str(item.get("path", ""))
    is_file = name in {"content", "text", "contents"} and "." in path
    return path.rsplit(".", 1)[-1] if is_file else ""

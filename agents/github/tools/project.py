"""Projects GitHub's large objects to the few relevant fields. Missing fields are `None`, never an error."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from agents.github.client import GitHubClient, Row
from agents.github.paging import Listing
from utils.messages.results import Items

_SPACE = re.compile(r"\s+")
_CUT = "…"


def day(value: Any) -> str | None:
    """The date of an ISO time, for tables."""
    return value[:10] if isinstance(value, str) else None


def text(value: Any) -> str | None:
    """`value` if it is a non-empty string."""
    return value if isinstance(value, str) and value else None


def one_line(value: Any, length: int) -> str | None:
    """A string on one line, of `length` characters at most."""
    found = text(value)
    return clip(_SPACE.sub(" ", found).strip(), length) if found else None


def clip(value: str, length: int) -> str:
    """The first `length` characters, with a mark if something was cut."""
    return value if len(value) <= length else value[: length - 1] + _CUT


def login(value: Any) -> str | None:
    """The name of an account; deleted accounts have none."""
    return text(value.get("login")) if isinstance(value, Mapping) else None


def field(value: Any, *keys: str) -> Any:
    """The value under nested keys; `None` if one is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def names(values: Any, key: str = "name") -> list[str]:
    """One field of each object of a list (labels may also be plain strings)."""
    if not isinstance(values, list):
        return []
    found = (value if isinstance(value, str) else field(value, key) for value in values)
    return [name for name in found if isinstance(name, str)]


def comment(raw: Row, length: int) -> str:
    """A comment of a conversation: who, when, and `length` characters of what was said."""
    said = clip(text(raw.get("body")) or "", length)
    return f"{login(raw.get('user')) or 'someone'} on {day(raw.get('created_at'))}: {said}"


def rows_of(values: Any) -> list[Row]:
    """The objects of a list."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def page_url(github: GitHubClient, rows: list[Row], *segments: str) -> str:
    """Address of a web page, on the host that the rows link to or else that of the API."""
    link = next((found for row in rows if (found := text(row.get("html_url")))), None)
    parts = urlsplit(link or github.settings.api_url)
    host = "github.com" if parts.netloc == "api.github.com" else parts.netloc
    return "/".join((f"{parts.scheme}://{host}", *segments))


def items(
    kind: str, listing: Listing, rows: Iterable[Row], *, source: str | None = None, note: str = ""
) -> Items:
    """A listing as a tool result: rows, total and how to get the rest."""
    shown = list(rows)
    remarks = [remark for remark in (note, _paging_note(kind, listing, len(shown))) if remark]
    return Items(kind=kind, items=shown, total=listing.total, note=" ".join(remarks) or None, source=source)


def _paging_note(kind: str, listing: Listing, shown: int) -> str:
    if listing.more:
        of = f" of {listing.total}" if listing.total else ""
        return f"{shown}{of} {kind} on page {listing.page}; page {listing.page + 1} has more."
    if not shown and listing.page > 1:
        return f"Page {listing.page} is past the end of the list."
    return "" if shown else f"There are no such {kind}."

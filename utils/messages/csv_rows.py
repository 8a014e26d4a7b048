"""The rows of a result as a CSV file (RFC 4180). Pure."""

from __future__ import annotations

import csv
import io
from typing import Any

from utils.messages.results import Items

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""With what a cell begins that a spreadsheet would run: https://owasp.org/www-community/attacks/CSV_Injection."""


def csv_of(items: Items) -> str:
    """A line of names, then a line for each row; a cell that a spreadsheet would run begins with an apostrophe."""
    names = list(dict.fromkeys(name for row in items.items for name in row))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(names)
    writer.writerows([[_cell(row.get(name)) for name in names] for row in items.items])
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        value = "; ".join(map(str, value))
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value

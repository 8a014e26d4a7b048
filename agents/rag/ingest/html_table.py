"""An HTML table as a Markdown table, or nothing when it is only there for layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode


def table_rows(table: LexborNode) -> list[str] | None:
    """Lines of a Markdown table; `None` for a layout table (it holds blocks or has one column)."""
    if table.css_first("table table, pre, h1, h2, h3") is not None:
        return None
    rows = [_cells(row) for row in table.css("tr")]
    rows = [row for row in rows if any(row)]
    width = max((len(row) for row in rows), default=0)
    if width < 2:  # noqa: PLR2004 - one column is no table
        return None
    lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in rows]
    return [lines[0], "|" + " --- |" * width, *lines[1:]]


def _cells(row: LexborNode) -> list[str]:
    return [
        " ".join(cell.text(separator=" ").split()).replace("|", "\\|")
        for cell in row.iter()
        if cell.tag in ("td", "th")
    ]

"""The agents of the service as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from multi_agents.cli.console import one_line, out
from multi_agents.cli.service.agents import AgentRow

if TYPE_CHECKING:
    from rich.table import Table

STYLES = {"ready": "green", "not ready": "yellow", "down": "red"}

WITH_ADDRESS = 100
"""Columns of a screen on which addresses are shown too."""

LEAST_SKILLS = 12
"""Characters of the skills that are worth showing."""

_GAP = 2

WITH_VERSION = 60
"""Columns of a screen on which versions and skills are shown too."""


def print_agents(rows: Sequence[AgentRow]) -> None:
    """Print one row for each agent, with as many columns as the screen has room for."""
    out().print(table_of(rows, out().width))


def table_of(rows: Sequence[AgentRow], width: int) -> Table:
    """The table for a screen of that width. Name, health and latency are always whole; skills get what is left."""
    from rich.table import Table
    from rich.text import Text

    headings = _headings(width)
    cells = [
        {
            "agent": row.name,
            "health": f"{row.health}, {row.busy}" if row.busy else row.health,
            "latency": "" if row.latency_ms is None else f"{row.latency_ms:.0f} ms",
            "version": row.version,
            "address": row.url,
        }
        for row in rows
    ]
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    left = width
    for heading in headings:
        widest = max(map(len, [heading, *(row[heading] for row in cells)]))
        table.add_column(heading, no_wrap=heading != "health")
        left -= widest + _GAP
    with_skills = width >= WITH_VERSION and left >= LEAST_SKILLS
    if with_skills:
        table.add_column("skills", no_wrap=True)
    for row, texts in zip(rows, cells, strict=True):
        line = [
            Text(texts[heading], STYLES[row.health] if heading == "health" else "") for heading in headings
        ]
        skills = [Text(one_line(", ".join(row.skills) or row.detail, left))] if with_skills else []
        table.add_row(*line, *skills)
    return table


def _headings(width: int) -> Sequence[str]:
    if width >= WITH_ADDRESS:
        return ("agent", "health", "latency", "version", "address")
    if width >= WITH_VERSION:
        return ("agent", "health", "latency", "version")
    return ("agent", "health", "latency")

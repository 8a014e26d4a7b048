"""The agents of the service as a table."""

from __future__ import annotations

from collections.abc import Sequence

from multi_agents.cli.console import one_line, out
from multi_agents.cli.service.agents import AgentRow


def print_agents(rows: Sequence[AgentRow]) -> None:
    """Print one row for each agent."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("agent", "health", "latency", "version", "address", "skills"):
        table.add_column(heading, no_wrap=True, overflow="ellipsis" if heading == "skills" else "fold")
    styles = {"ready": "green", "not ready": "yellow", "down": "red"}
    for row in rows:
        latency = "" if row.latency_ms is None else f"{row.latency_ms:.0f} ms"
        health = Text(f"{row.health}, {row.busy}" if row.busy else row.health, style=styles[row.health])
        skills = one_line(", ".join(row.skills) or row.detail)
        table.add_row(Text(row.name), health, latency, Text(row.version), Text(row.url), Text(skills))
    out().print(table)

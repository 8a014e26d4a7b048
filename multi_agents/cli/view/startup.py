"""The start of the service on the screen: one row per process, with what it is busy with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from multi_agents.cli.console import err, say
from multi_agents.cli.service.plan import Planned, ServicePlan
from multi_agents.cli.service.ready import Readiness

if TYPE_CHECKING:
    from rich.console import RenderableType


class StartupView:
    """Shows readiness on standard error: a live table on a terminal, else a line per change."""

    def __init__(self, plan: ServicePlan) -> None:
        from rich.live import Live

        self._rows: dict[str, tuple[Planned, Readiness]] = {
            one.name: (one, Readiness(answers=False, ready=False)) for one in plan.processes
        }
        console = err()
        self._live = (
            Live(get_renderable=self._draw, console=console, transient=True, refresh_per_second=10)
            if console.is_terminal
            else None
        )

    def __enter__(self) -> Self:
        for planned, _ in self._rows.values():
            if planned.port != planned.preferred:
                say(f"Port {planned.preferred} is taken; {planned.name} uses {planned.port}.")
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        """Take the table away."""
        if self._live:
            self._live.stop()

    def report(self, name: str, state: Readiness) -> None:
        """Take in a change."""
        planned, _ = self._rows[name]
        self._rows[name] = (planned, state)
        if self._live is None and state.answers:
            say(f"{name}: {_word(state)}" + (f" at {planned.url}" if state.ready else ""))

    def _draw(self) -> RenderableType:
        from rich.spinner import Spinner
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        for planned, state in self._rows.values():
            mark = Text("✓", style="green") if state.ready else Spinner("dots", style="yellow")
            table.add_row(mark, Text(planned.name), Text(planned.url, style="dim"), Text(_word(state)))
        return table


def _word(state: Readiness) -> str:
    if state.ready:
        without = f"without {', '.join(sorted(state.without))}" if state.without else ""
        return ", ".join(filter(None, ["ready", without or state.busy]))
    return state.detail or ("not ready yet" if state.answers else "starting")

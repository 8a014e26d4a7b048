"""The start of the service on the screen: one row per process, with what it is busy with."""

from __future__ import annotations

import time
from enum import Enum
from typing import TYPE_CHECKING, Self

from multi_agents.cli.console import err, say
from multi_agents.cli.service.plan import Planned, ServicePlan
from multi_agents.cli.service.ready import Readiness

if TYPE_CHECKING:
    from rich.console import RenderableType


PAUSE_SECONDS = 10.0
"""Between two lines about a process that is not ready yet, where standard error is no terminal."""


class Detail(Enum):
    """How much of a start is shown if standard error is not a terminal."""

    CHANGES = "a line for each change, as a log has it"
    RESULT = "one line when it is up, and one now and then while that takes long"
    FAILURES = "nothing, on a terminal too"


class StartupView:
    """Shows readiness on standard error: a live table on a terminal, else lines."""

    def __init__(self, plan: ServicePlan, detail: Detail = Detail.CHANGES) -> None:
        from rich.live import Live

        self._detail = detail
        self._begin = time.monotonic()
        self._told_at: dict[str, float] = {}
        self._rows: dict[str, tuple[Planned, Readiness]] = {
            one.name: (one, Readiness(answers=False, ready=False)) for one in plan.processes
        }
        console = err()
        self._live = (
            Live(get_renderable=self._draw, console=console, transient=True, refresh_per_second=10)
            if console.is_terminal and detail is not Detail.FAILURES
            else None
        )

    def __enter__(self) -> Self:
        for planned, _ in self._rows.values():
            if planned.port != planned.preferred and self._detail is not Detail.FAILURES:
                say(f"Port {planned.preferred} is taken; {planned.name} uses {planned.port}.")
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        """Take the table away, or say in one line what is up."""
        if self._live:
            self._live.stop()
        elif self._detail is Detail.RESULT and all(state.ready for _, state in self._rows.values()):
            url = next(planned.url for planned, _ in self._rows.values())
            seconds = time.monotonic() - self._begin
            say(f"Started {', '.join(self._rows)} in {seconds:.0f} s; the supervisor is at {url}.")

    def report(self, name: str, state: Readiness) -> None:
        """Take in what a look at a process showed."""
        planned, before = self._rows[name]
        self._rows[name] = (planned, state)
        if self._live is None and self._is_due(name, state, changed=state != before):
            say(f"{name}: {_word(state)}" + (f" at {planned.url}" if state.ready else ""))

    def _is_due(self, name: str, state: Readiness, *, changed: bool) -> bool:
        """Whether a line is due.

        Where changes are shown, at once when a process is ready. Else after a pause, since some count their documents, and
        since a person wants to know that it still goes on. Where only the result is shown, the pause begins with the start.
        """
        if self._detail is Detail.FAILURES:
            return False
        changes, now = self._detail is Detail.CHANGES, time.monotonic()
        if state.ready:
            return changes and changed
        first = -PAUSE_SECONDS if changes and state.answers else self._begin
        if now - self._told_at.get(name, first) < PAUSE_SECONDS:
            return False
        self._told_at[name] = now
        return True

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

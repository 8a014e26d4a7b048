"""Ways to follow a turn: a live tree on a terminal, plain lines in a pipe, JSON lines for programs, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, Self

from multi_agents.cli.console import err, one_line, print_json, say
from multi_agents.cli.view.json_lines import as_json
from multi_agents.cli.view.state import NOTES, Node, TurnView, away_line, silence_line
from utils.a2a_common.client.stream.events import ActivityReported, AgentAway, PeerEvent, TaskSnapshot
from utils.events import PlanStep, PlanUpdated

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


class Sink(Protocol):
    """Shows a turn while it runs. Entered before the first event and left after the last."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...

    def show(self, event: PeerEvent, view: TurnView) -> None:
        """Take in one event; `view` has it already."""

    def silent(self, seconds: float, view: TurnView) -> None:
        """Take in that the last event came `seconds` ago; 0 that this is not to be shown any more."""


class JsonSink:
    """One JSON object per event on standard output."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        """Nothing is open."""

    def show(self, event: PeerEvent, view: TurnView) -> None:
        """Print the event."""
        del view
        print_json(as_json(event))

    def silent(self, seconds: float, view: TurnView) -> None:
        """Leave it: a program has a clock of its own."""
        del seconds, view


class SilentSink:
    """Nothing: the answer alone is wanted."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        """Nothing is open."""

    def show(self, event: PeerEvent, view: TurnView) -> None:
        """Leave it."""
        del event, view

    def silent(self, seconds: float, view: TurnView) -> None:
        """Leave it."""
        del seconds, view


class LineSink:
    """A line on standard error for each thing that begins or ends."""

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._silent = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        """Nothing is open."""

    def show(self, event: PeerEvent, view: TurnView) -> None:
        """Print what is new."""
        self._silent = 0.0
        match event:
            case TaskSnapshot():
                self._tell(f"task {event.task_id}")
            case PlanUpdated():
                for step in event.steps:
                    self._tell(_step_line(step, event.steps))
            case ActivityReported():
                self._tell_nodes(view.nodes, "")
            case AgentAway():
                self._tell(away_line(event))
            case _:
                pass

    def silent(self, seconds: float, view: TurnView) -> None:
        """Print it, and again each time that the silence has doubled."""
        if seconds and seconds >= 2 * self._silent:
            self._silent = seconds
            say(silence_line(seconds, view))

    def _tell_nodes(self, nodes: list[Node], path: str) -> None:
        for node in nodes:
            name = f"{path}{one_line(node.label, 60)}"
            took = f" in {node.seconds:.1f} s" if node.seconds is not None else ""
            if node.key in NOTES:
                self._tell(name)
                continue
            self._tell(f"{name}: {node.status}{took}", key=f"{node.key}{name}{node.status}{took}")
            self._tell_nodes(node.children, f"{name} > ")

    def _tell(self, line: str, key: str = "") -> None:
        if (key or line) not in self._told:
            self._told.add(key or line)
            say(line)


def _step_line(step: PlanStep, steps: Sequence[PlanStep]) -> str:
    """The state of a step. Its words are mostly the user's own, so they stand there only if the agent has several steps."""
    line = f"{one_line(step.agent, 40)}: {step.status.value}"
    several = sum(each.agent == step.agent for each in steps) > 1
    return f"{line}: {one_line(step.title)}" if several else line


class LiveSink:
    """The live tree and the growing answer; the region goes away at the end, the finished tree stays."""

    def __init__(self, console: Console | None = None) -> None:
        from rich.live import Live

        self._console = console or err()
        self._view = TurnView()
        self._silent = 0.0
        self._live = Live(
            get_renderable=self._draw, console=self._console, transient=True, refresh_per_second=10
        )

    def _draw(self) -> RenderableType:
        from multi_agents.cli.view.render import live_view

        return live_view(self._view, silence_line(self._silent, self._view) if self._silent else "")

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        """Take the live region away and leave the tree."""
        from multi_agents.cli.view.render import settled_view

        self._live.stop()
        tree = settled_view(self._view)
        if tree is not None:
            self._console.print(tree)

    def show(self, event: PeerEvent, view: TurnView) -> None:
        """The next refresh draws it."""
        del event
        self._view, self._silent = view, 0.0

    def silent(self, seconds: float, view: TurnView) -> None:
        """The next refresh draws it."""
        self._view, self._silent = view, seconds

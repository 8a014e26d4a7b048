"""A turn as Rich draws it: the plan, the tree of delegations and tools, the answer as Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.spinner import Spinner
from rich.text import Text
from rich.tree import Tree

from multi_agents.cli.console import clean, one_line
from multi_agents.cli.view.fitted_table import FittedMarkdown
from multi_agents.cli.view.state import REASONED, WAITED, Node, TurnView

MARKS = {
    "pending": ("○", "dim"),
    "submitted": ("○", "dim"),
    "working": ("●", "yellow"),
    "completed": ("✓", "green"),
    "failed": ("✗", "red"),
    "rejected": ("✗", "red"),
    "error": ("✗", "red"),
    "canceled": ("■", "dim"),
    "interrupted": ("■", "dim"),
    "input-required": ("?", "cyan"),
    "auth-required": ("?", "cyan"),
}


def live_view(view: TurnView, silence: str = "") -> RenderableType:
    """The turn while it runs: what is done, the last lines of the answer so far, and how long nothing has come."""
    parts: list[RenderableType] = [*_progress(view)]
    if view.answer:
        parts.append(Tail(markdown(view.answer)))
    elif not view.nodes and not silence:
        parts.append(Spinner("dots", Text(one_line(view.status_text) or "thinking", style="dim")))
    if silence:
        parts.append(Spinner("dots", Text(silence, style="dim")))
    return Group(*parts)


def settled_view(view: TurnView) -> RenderableType | None:
    """The part that stays on the screen above the answer: the plan and the tree, if there are any."""
    parts = _progress(view, passing=False)
    return Group(*parts) if parts else None


def markdown(text: str) -> FittedMarkdown:
    """A peer's text as Markdown, free of terminal control characters."""
    return FittedMarkdown(clean(text))


@dataclass(frozen=True, slots=True)
class Tail:
    """The last lines of a body that would not fit on the screen while it grows."""

    body: RenderableType
    keep: float = 0.6  # of the terminal's height: the tree above it stays visible

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The body's last lines."""
        lines = console.render_lines(self.body, options.update(height=None), pad=False)
        for line in lines[-max(3, int(console.size.height * self.keep)) :]:
            yield from line
            yield Text("")


def _progress(view: TurnView, *, passing: bool = True) -> list[RenderableType]:
    """The plan and the tree; `passing` with what matters only while the turn runs."""
    parts: list[RenderableType] = []
    if view.steps:
        tree = Tree(Text("plan", style="bold"), guide_style="dim")
        for step in view.steps:
            tree.add(_line(view.shown_status(step.status.value), step.title, step.agent))
        parts.append(tree)
    if shown := _shown(view.nodes, passing=passing):
        tree = Tree(Text("work", style="bold"), guide_style="dim")
        _grow(tree, shown, view, passing=passing)
        parts.append(tree)
    return parts


def _shown(nodes: Iterable[Node], *, passing: bool) -> list[Node]:
    return [node for node in nodes if passing or node.key not in (WAITED, REASONED)]


def _grow(tree: Tree, nodes: Iterable[Node], view: TurnView, *, passing: bool) -> None:
    for node in nodes:
        line = _line(view.shown_status(node.status), node.label, node.detail, node.seconds)
        _grow(tree.add(line), _shown(node.children, passing=passing), view, passing=passing)


def _line(status: str, label: str, detail: str = "", seconds: float | None = None) -> Text:
    mark, style = MARKS.get(status, ("·", "dim"))
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(f"{mark} ", style=style)
    text.append(one_line(label, 60))
    if detail:
        text.append(f"  {one_line(detail, 80)}", style="dim")
    if seconds is not None:
        text.append(f"  {seconds:.1f} s", style="dim")
    return text

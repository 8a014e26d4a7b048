"""The content of a model request, as a small bar."""

from __future__ import annotations

from collections.abc import Mapping

from multi_agents.cli.console import say
from utils.events import ContextMeasured

WIDTH = 50
"""Characters of the bar: the tokens that a request may have."""

_MARKS = {"system": "S", "tools": "T", "pinned": "P", "summary": "∑", "tail": "█"}
_MEANING = {
    "system": "instructions",
    "tools": "tools",
    "pinned": "your standing constraints",
    "summary": "summary of what is left out",
    "tail": "messages shown",
}


def show_context(measured: ContextMeasured | None) -> None:
    """Say what the last model request held, or that nothing is known yet."""
    if measured is None:
        say("Nothing is known yet: ask something first.")
        return
    for line in lines(measured):
        say(line)


def lines(measured: ContextMeasured) -> list[str]:
    """The bar and one line for each kind."""
    used = sum(measured.by_kind.values())
    share = 100 * used / measured.limit
    head = f"{used:,} of {measured.limit:,} tokens ({share:.0f} %), window {measured.window:,}"
    rows = [f"{_MARKS[kind]} {_MEANING[kind]:28} {tokens:>9,}" for kind, tokens in measured.by_kind.items()]
    return [f"[{bar(measured.by_kind, measured.limit)}]", head, *rows]


def bar(by_kind: Mapping[str, int], limit: int) -> str:
    """One mark for each fiftieth of the limit; a kind that is there at all has a mark."""
    marks = "".join(
        _MARKS[kind] * max(1, round(WIDTH * tokens / limit)) for kind, tokens in by_kind.items() if tokens
    )
    return marks[:WIDTH].ljust(WIDTH, "·")

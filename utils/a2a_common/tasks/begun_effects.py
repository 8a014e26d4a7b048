"""`BegunEffects`: the tools that a turn has called and that may have changed something, so that a turn whose answer is lost says so.

Who is told "try again" after a change that was made makes it twice.
"""

from __future__ import annotations

from collections import Counter
from contextvars import ContextVar

_current: ContextVar[BegunEffects | None] = ContextVar("effects of the turn", default=None)


class BegunEffects:
    """Made per turn.

    Attributes:
        calls: How often each tool was called, by its name.
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    @property
    def tools(self) -> list[str]:
        """Names of the tools, each once, in the order of their first calls."""
        return [name for name, count in self.calls.items() if count > 0]

    def enter(self) -> None:
        """Be those of the turn that runs in the current context, and in what it begins."""
        _current.set(self)


def note_effect(tool: str) -> None:
    """Note that the current turn calls a tool that may change something."""
    effects = _current.get()
    if effects is not None:
        effects.calls[tool] += 1


def forget_effect(tool: str) -> None:
    """The call did not begin after all: it waits for the user, and begins again with the answer."""
    effects = _current.get()
    if effects is not None:
        effects.calls[tool] -= 1


def tools_with_effects() -> list[str]:
    """The tools that the current turn has called and that may have changed something."""
    effects = _current.get()
    return effects.tools if effects is not None else []

"""Lets the graphs of a process share the instructions of functions, where langgraph looks for graphs that a node calls.

It takes the code of each node apart again for each graph, which is a twentieth of what a start of an agent costs.
"""

from __future__ import annotations

import dis
from functools import cache
from types import CodeType

from langgraph.pregel import _utils


class _Shared:
    """Stands for the module `dis`, of which langgraph uses one function."""

    @staticmethod
    @cache
    def get_instructions(code: CodeType) -> tuple[dis.Instruction, ...]:
        return tuple(dis.get_instructions(code))


def share_instructions() -> None:
    """Take each code object apart once, in this process; it never changes."""
    _utils.dis = _Shared  # type: ignore[assignment, attr-defined]

"""Groups of task states, by what they mean for a turn."""

from __future__ import annotations

from utils.persistence.task_states import CUT_SHORT, INTERRUPTED, OPEN, TERMINAL

SETTLED = TERMINAL | INTERRUPTED
"""States that end a turn."""

__all__ = ["CUT_SHORT", "INTERRUPTED", "OPEN", "SETTLED", "TERMINAL"]

"""Marks of a tool that decide whether a call that was cut off by the death of the process may run again. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

READ_ONLY = "read_only"
"""Key of a tool's `metadata`: true if it changes nothing."""

REPEATABLE = "repeatable"
"""Key of a tool's `metadata`: true where the tool itself sees to it that a repeated call has no second effect.

Where a new call would have one, as where the tool remembers its calls, it marks `CHANGES` too, and calls `note_effect` of
`utils.a2a_common.tasks.begun_effects` before it changes something.
"""

CHANGES = "changes"
"""Key of a tool's `metadata`: true if it makes a change that the user was asked about."""


def may_have_changed(metadata: Mapping[str, Any] | None) -> bool:
    """Whether something may have changed by a call that has ended, so that a new call might change it once more."""
    marks = metadata or {}
    return not may_repeat(marks) or (marks.get(CHANGES) is True and marks.get(READ_ONLY) is not True)


def is_read_only(metadata: Mapping[str, Any] | None) -> bool:
    """Whether a tool changes nothing, by its `metadata`."""
    return (metadata or {}).get(READ_ONLY) is True


def may_repeat(metadata: Mapping[str, Any] | None) -> bool:
    """Whether a call with an unknown outcome may run again, by the tool's `metadata`."""
    marks = metadata or {}
    return marks.get(READ_ONLY) is True or marks.get(REPEATABLE) is True

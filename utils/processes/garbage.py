"""How often Python looks for garbage that counting references leaves, which are cycles."""

from __future__ import annotations

import gc

YOUNG_OBJECTS = 10_000
"""Objects made between two looks at the young ones. Python's 700 are a part of an import or of a turn: hardly any of them is in a cycle, and looking is a fifth of the time of a start."""


def look_seldom() -> None:
    """Have this process look only that often from now on."""
    gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])

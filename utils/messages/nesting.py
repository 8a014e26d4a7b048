"""How deep a value of JSON is nested. Pure, and without recursion.

What Python's parser of JSON refuses differs from version to version: 3.11 stops at a thousand levels, later ones at many more, which
functions that call themselves for each level do not survive.
"""

from __future__ import annotations

from collections.abc import Iterable


def is_nested_deeper(value: object, levels: int) -> bool:
    """Whether a value holds lists or objects within one another at more than so many levels. A list of numbers has one level."""
    nested = _nested([value])
    for _ in range(levels):
        if not nested:
            return False
        nested = _nested(inner for each in nested for inner in _inner(each))
    return bool(nested)


def _nested(values: Iterable[object]) -> list[list[object] | dict[object, object]]:
    return [each for each in values if isinstance(each, list | dict)]


def _inner(value: list[object] | dict[object, object]) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value

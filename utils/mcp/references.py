"""Resolves `$ref` and `allOf` in JSON schemas. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from utils.mcp.words import quoted

_LONGEST_ADDRESS = 100
_LISTS = ("allOf", "anyOf", "oneOf", "items", "prefixItems")
"""Lists of parts; `items` may be a single one."""


class UnusableSchemaError(Exception):
    """A schema cannot be converted; says why."""


class LargeSchemaError(UnusableSchemaError):
    """It is too large."""


class Placed(NamedTuple):
    """A part of a schema, and the references that lead to it."""

    part: Any
    followed: tuple[str, ...]


class References:
    """The parts of one schema by their references.

    Args:
        schema: The complete schema.
        deepest: How many nested references are followed; of deeper ones only the type is kept.
        most: Most parts that are read, so that no schema grows without limit when its references are followed.

    Attributes:
        followed: Most nested references that were followed so far.
    """

    def __init__(self, schema: Mapping[str, Any], deepest: int, most: int) -> None:
        self._schema = schema
        self._deepest = deepest
        self._most = self._left = most
        self.followed = 0

    def resolve(self, part: Any) -> dict[str, Any]:
        """A part with `$ref` and `allOf` resolved. The parts inside of it are not resolved; call this method for them.

        Args:
            part: A schema inside the schema; `true` and anything that is not a schema allow any value.

        Raises:
            UnusableSchemaError: A reference leads nowhere, or out of the schema.
            LargeSchemaError: There are too many parts.
        """
        self._left -= 1
        if self._left < 0:
            raise LargeSchemaError(f"the schema of its arguments has over {self._most:,} parts")
        part, followed = part if isinstance(part, Placed) else Placed(part, ())
        if not isinstance(part, Mapping):
            return {}
        own = _placed(part, followed)
        if isinstance(part.get("$ref"), str):
            own = merged(own, self._target(part["$ref"], followed))
        for each in own.pop("allOf", ()):
            own = merged(own, self.resolve(each))
        return own

    def _target(self, reference: str, followed: tuple[str, ...]) -> dict[str, Any]:
        target = _found(self._schema, reference)
        if reference in followed or len(followed) >= self._deepest:
            named = target if isinstance(target, Mapping) else {}
            return {key: named[key] for key in ("type", "description") if key in named}
        self.followed = max(self.followed, len(followed) + 1)
        return self.resolve(Placed(target, (*followed, reference)))


def _placed(part: Mapping[str, Any], followed: tuple[str, ...]) -> dict[str, Any]:
    """A part whose subschemas carry the references that led to them."""
    made = {key: value for key, value in part.items() if key != "$ref" and key not in _LISTS}
    for key in _LISTS:
        found = part.get(key)
        if key == "items" and isinstance(found, Mapping | Placed):
            found = [found]
        if isinstance(found, list):
            made[key] = [_at(each, followed) for each in found]
    properties = part.get("properties")
    if isinstance(properties, Mapping):
        made["properties"] = {
            name: _at(each, followed) for name, each in properties.items() if each is not False
        }
    if isinstance(part.get("additionalProperties"), Mapping):
        made["additionalProperties"] = _at(part["additionalProperties"], followed)
    return made


def _at(part: Any, followed: tuple[str, ...]) -> Placed:
    return part if isinstance(part, Placed) else Placed(part, followed)


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """A schema that requires what both require, also for each argument; for other keys the first takes precedence."""
    both = {**second, **first}
    if "properties" in first and "properties" in second:  # each would forbid the arguments of the other
        both.pop("additionalProperties", None)
    for key in ("properties", "required", "allOf"):
        one, other = first.get(key), second.get(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            both[key] = {**one, **{name: _both(one, name, shape) for name, shape in other.items()}}
        elif isinstance(one, list) and isinstance(other, list):
            both[key] = [*one, *other]
    return both


def _both(first: Mapping[str, Any], name: str, shape: Any) -> Any:
    """The shape of an argument, combined with that in `first` if it has the argument too."""
    own = first.get(name, shape)
    return shape if own == shape else {"allOf": [own, shape]}


def _found(schema: Any, reference: str) -> Any:
    """The target of a reference, by its JSON pointer."""
    start, *steps = unquote(reference).split("/")
    place = schema
    for step in steps if start == "#" else (None,):
        place = _inside(place, step)
        if place is None:
            shown = quoted(reference, _LONGEST_ADDRESS)
            raise UnusableSchemaError(
                f"the schema of its arguments refers to {shown}, which it does not contain"
            )
    return place


def _inside(place: Any, step: str | None) -> Any:
    if step is None:
        return None
    name = step.replace("~1", "/").replace("~0", "~")
    if isinstance(place, Mapping):
        return place.get(name)
    if isinstance(place, list) and name.isdecimal() and int(name) < len(place):
        return place[int(name)]
    return None

"""What a schema refers to (`$ref`), and what it is put together from (`allOf`), in its place. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from utils.mcp.words import quoted

_LONGEST_ADDRESS = 100
_LISTS = ("allOf", "anyOf", "oneOf", "items", "prefixItems")
"""Lists of parts; `items` may be a single one."""


class UnusableSchemaError(Exception):
    """No request can carry a schema; says why."""


class LargeSchemaError(UnusableSchemaError):
    """It is too large."""


class Placed(NamedTuple):
    """A part, and the references that lead to it."""

    part: Any
    followed: tuple[str, ...]


class References:
    """The parts of one schema by their references.

    Args:
        schema: The whole schema.
        deepest: How many references may stand inside each other; what lies deeper is only named by its type.
        most: How many parts are read at most, so that no schema grows without end when its references are followed.

    Attributes:
        followed: How many references inside each other were followed up to now.
    """

    def __init__(self, schema: Mapping[str, Any], deepest: int, most: int) -> None:
        self._schema = schema
        self._deepest = deepest
        self._most = self._left = most
        self.followed = 0

    def whole(self, part: Any) -> dict[str, Any]:
        """A part without `$ref` and `allOf`. What it holds may be read with this method too, and is not read here.

        Args:
            part: A schema inside the schema; `true` and whatever is no schema allow anything.

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
            own = merged(own, self.whole(each))
        return own

    def _target(self, reference: str, followed: tuple[str, ...]) -> dict[str, Any]:
        target = _found(self._schema, reference)
        if reference in followed or len(followed) >= self._deepest:
            named = target if isinstance(target, Mapping) else {}
            return {key: named[key] for key in ("type", "description") if key in named}
        self.followed = max(self.followed, len(followed) + 1)
        return self.whole(Placed(target, (*followed, reference)))


def _placed(part: Mapping[str, Any], followed: tuple[str, ...]) -> dict[str, Any]:
    """A part whose parts know which references led to them."""
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
    """A schema that asks for what both ask for, of each argument too; where they differ in a key, the first counts."""
    both = {**second, **first}
    if "properties" in first and "properties" in second:  # each forbids what the other one has
        both.pop("additionalProperties", None)
    for key in ("properties", "required", "allOf"):
        one, other = first.get(key), second.get(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            both[key] = {**one, **{name: _both(one, name, shape) for name, shape in other.items()}}
        elif isinstance(one, list) and isinstance(other, list):
            both[key] = [*one, *other]
    return both


def _both(first: Mapping[str, Any], name: str, shape: Any) -> Any:
    """The shape of an argument that the first has perhaps as well."""
    own = first.get(name, shape)
    return shape if own == shape else {"allOf": [own, shape]}


def _found(schema: Any, reference: str) -> Any:
    """What a reference leads to, by its JSON pointer."""
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

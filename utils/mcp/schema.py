"""The schema of a tool's arguments as every provider takes it. Pure.

One tool whose schema a provider refuses, or its client cannot convert, makes each request of the agent fail, whatever it
is about. So each schema is written anew from what all of them take: without references, with one type or a choice
(`anyOf`) for each part, and with `enum` for texts only. What cannot be said so is told in the description or dropped; the
server checks the arguments anyway.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from utils.mcp.references import LargeSchemaError, Placed, References, UnusableSchemaError, merged
from utils.mcp.words import plain, quoted

LARGEST_SCHEMA = 20_000
"""Characters of the JSON schema of a tool's arguments; a tool with a larger one is left out."""
_MOST_PARTS = 2_000
_DEEPEST = 16
"""How many parts may stand inside each other; deeper ones take anything."""
_DEPTHS = (8, 4, 2, 1)
"""How many references are followed inside each other: as many as leave the schema small enough."""
_LONGEST_HINT = 200
_LONGEST_VALUES = 400

_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
_OTHER_TYPES = {
    "str": "string", "text": "string", "float": "number", "double": "number", "int": "integer", "long": "integer",
    "bool": "boolean", "list": "array", "dict": "object", "map": "object",
}  # fmt: skip
_COUNTS = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")

_CHOICES = ("anyOf", "oneOf")
_NULL = {"type": "null"}
_NOT_SHARED = frozenset({*_CHOICES, "title", "description", "default"})

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_OTHER = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a tool.

    Attributes:
        schema: Their schema for a model.
        renamed: The server's names of those that have another one in the schema.
    """

    schema: dict[str, Any]
    renamed: Mapping[str, str]

    def of(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call with the server's names."""
        return {self.renamed.get(name, name): value for name, value in call.items()}


def arguments_of(schema: Mapping[str, Any]) -> Arguments:
    """The arguments as every provider takes them.

    Raises:
        UnusableSchemaError: No request can carry them; says why.
    """
    try:
        return _named(_smallest(schema))
    except RecursionError:
        raise UnusableSchemaError("the schema of its arguments is nested too deeply") from None


def _smallest(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with as much of what it refers to as it has room for."""
    why, followed = "", _DEEPEST
    for depth in _DEPTHS:
        if followed <= depth:  # it would be the same once more
            continue
        references = References(schema, depth, _MOST_PARTS)
        try:
            made = _Reader(references).root(schema)
            if len(json.dumps(made)) <= LARGEST_SCHEMA:
                return made
            why = f"the schema of its arguments has over {LARGEST_SCHEMA:,} characters"
        except LargeSchemaError as error:
            why = str(error)
        followed = references.followed
    raise LargeSchemaError(why)


def _named(schema: dict[str, Any]) -> Arguments:
    """The schema with names of arguments that every provider takes."""
    shapes: dict[str, Any] = schema["properties"]
    names: dict[str, str] = {}
    taken, counts = {*shapes}, Counter[str]()
    for name in shapes:
        names[name] = name if _NAME.fullmatch(name) else _free(name, taken, counts)
        taken.add(names[name])
    made = {**schema, "properties": {names[name]: _named_by(names, name, shapes[name]) for name in shapes}}
    if "required" in schema:
        made["required"] = [names[name] for name in schema["required"]]
    return Arguments(made, {sent: name for name, sent in names.items() if sent != name})


def _named_by(names: Mapping[str, str], name: str, shape: dict[str, Any]) -> dict[str, Any]:
    """The shape of an argument, with the server's name for it where it is sent under another."""
    own = quoted(name, 100)
    return shape if names[name] == name else _told(shape, f"Its name is {own}.")


def _free(wanted: str, taken: Collection[str], counts: Counter[str]) -> str:
    """A name that every provider takes, with a number where it is taken.

    Args:
        wanted: The server's name.
        taken: Names that cannot be had.
        counts: The last number of each name that was given one: the search goes on behind it.
    """
    name = free = _OTHER.sub("_", wanted)[:60] or "_"
    while free in taken:
        counts[name] = max(2, counts[name] + 1)
        free = f"{name}_{counts[name]}"
    return free


class _Reader:
    """Reads one schema."""

    def __init__(self, references: References) -> None:
        self._references = references

    def root(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The schema of all arguments: an object without a choice, which no provider takes there."""
        whole = self._references.whole(schema)
        if "object" not in (_types_of(whole) or ("object",)):
            raise UnusableSchemaError("its arguments are not an object")
        whole = self._folded(whole)
        return {
            "type": "object",
            "properties": {},
            **_texts(whole, ("description",)),
            **self._object(whole, 0),
        }

    def _part(self, part: Any, depth: int) -> dict[str, Any]:
        whole = {} if depth > _DEEPEST else self._references.whole(part)
        said = _texts(whole, ("title", "description"))
        if "default" in whole and _is_quiet(whole["default"]):
            said["default"] = whole["default"]
        values = _values_of(whole)
        if values is not None:
            return _chosen(said, _types_of(whole), values)
        if "properties" in whole:
            whole = self._folded({"type": "object", **whole})
        if options := _options(whole):
            return said | self._choice(whole, options, depth)
        return said | _either([self._of_type(kind, whole, depth) for kind in _types_of(whole)])

    def _choice(self, whole: Mapping[str, Any], options: Sequence[Any], depth: int) -> dict[str, Any]:
        """A choice between forms; what stands beside it counts for each of them."""
        shared = {key: value for key, value in whole.items() if key not in _NOT_SHARED}
        forms = [self._references.whole(option) for option in options]
        return _either(
            [
                _NULL if form.get("type") == "null" else self._part(merged(form, shared), depth + 1)
                for form in forms
            ]
        )

    def _of_type(self, kind: str, whole: Mapping[str, Any], depth: int) -> dict[str, Any]:
        made = {"type": kind, **_limits(kind, whole)}
        if kind == "array":  # where each place has a form of its own, any of these
            forms = [*whole.get("prefixItems", ()), *whole.get("items", ())]
            made["items"] = _either([self._part(form, depth + 1) for form in forms])
        elif kind == "object":
            made |= self._object(whole, depth)
        return made

    def _object(self, whole: Mapping[str, Any], depth: int) -> dict[str, Any]:
        """The arguments; one named `$ref` would be taken for a reference, and is renamed at the top only."""
        found = _mapping(whole, "properties")
        wanted = _required(whole)
        shapes = {name: self._part(found.get(name), depth + 1) for name in dict.fromkeys([*found, *wanted])}
        if depth:
            shapes.pop("$ref", None)
        made: dict[str, Any] = {"properties": shapes} if shapes else {}
        if required := [name for name in wanted if name in shapes]:
            made["required"] = required
        more = whole.get("additionalProperties")
        if isinstance(more, bool) and "patternProperties" not in whole:
            made["additionalProperties"] = more
        elif isinstance(more, Placed):
            made["additionalProperties"] = self._part(more, depth + 1)
        return made

    def _folded(self, whole: Mapping[str, Any]) -> dict[str, Any]:
        """An object that has the arguments of all its forms; only those that each form needs are required."""
        made = {key: value for key, value in whole.items() if key not in _CHOICES}
        forms = [self._references.whole(option) for option in _options(whole)]
        forms = [self._folded(form) for form in forms if form.get("type") != "null"]
        if forms:
            made["properties"] = _united([_mapping(form, "properties") for form in (made, *forms)])
            needed = set.intersection(*(set(_required(form)) for form in forms))
            made["required"] = [*_required(whole), *sorted(needed)]
        return made


def _united(forms: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The arguments of several forms; one that they have differently takes any of what it takes there."""
    found: dict[str, list[Any]] = {}
    for form in forms:
        for name, shape in form.items():
            known = found.setdefault(name, [])
            if shape not in known:
                known.append(shape)
    return {name: shapes[0] if len(shapes) == 1 else {"anyOf": shapes} for name, shapes in found.items()}


def _mapping(whole: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = whole.get(key)
    return found if isinstance(found, Mapping) else {}


def _options(whole: Mapping[str, Any]) -> list[Any]:
    return next((found for key in _CHOICES if isinstance(found := whole.get(key), list) and found), [])


def _required(whole: Mapping[str, Any]) -> list[str]:
    found = whole.get("required")
    names = found if isinstance(found, list) else ()
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


def _types_of(whole: Mapping[str, Any]) -> tuple[str, ...]:
    """The types that a part may have; none where it may have any."""
    said = whole.get("type")
    names = [_OTHER_TYPES.get(name, name) for name in _listed(said) if isinstance(name, str)]
    known = tuple(dict.fromkeys(name for name in names if name in _TYPES))
    if known or said is not None:
        return known
    return ("object",) if "properties" in whole else ("array",) if "items" in whole else ()


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _values_of(whole: Mapping[str, Any]) -> list[Any] | None:
    """The values that a part may have, or `None` where it does not name them."""
    if "const" in whole:
        return [whole["const"]]
    found = whole.get("enum")
    return found if isinstance(found, list) else None


def _chosen(said: dict[str, Any], types: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    """One of some values: an `enum` where all are texts, else words."""
    texts = list(dict.fromkeys(value for value in values if isinstance(value, str) and value))
    if texts and all(value is None or (isinstance(value, str) and value) for value in values):
        choice = {"type": "string", "enum": texts}
        return said | (_either([choice, _NULL]) if None in values else choice)
    if values:
        listed = ", ".join(json.dumps(value, ensure_ascii=False) for value in values)
        said = _told(said, f"One of: {plain(listed, _LONGEST_VALUES)}.")
    kinds = [kind for kind in types if kind not in {"array", "object"}]
    return said | (_either([{"type": kind} for kind in kinds]) if kinds else {})


def _told(shape: Mapping[str, Any], words: str) -> dict[str, Any]:
    return {**shape, "description": " ".join(filter(None, (shape.get("description"), words)))}


def _either(forms: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A choice between forms; a single one is none, and a choice among them adds its own forms."""
    forms = [each for form in forms for each in form.get("anyOf", [form])]
    different = [form for at, form in enumerate(forms) if form not in forms[:at]]
    if all(form == _NULL for form in different):
        return {}
    return different[0] if len(different) == 1 else {"anyOf": different}


def _texts(whole: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: plain(whole[key], _LONGEST_HINT) for key in keys if isinstance(whole.get(key), str)}


def _limits(kind: str, whole: Mapping[str, Any]) -> dict[str, Any]:
    """What a value of this type must keep to."""
    made: dict[str, Any] = {}
    for key in _COUNTS.get(kind, ()):
        if _is_number(whole.get(key), int) and whole[key] >= 0:
            made[key] = whole[key]
    for key in _BOUNDS if kind in {"number", "integer"} else ():
        if _is_number(whole.get(key), int, float):
            made[key] = whole[key]
    if kind == "string" and isinstance(whole.get("format"), str):
        made["format"] = plain(whole["format"], 40)
    if kind == "string" and _is_pattern(whole.get("pattern")):
        made["pattern"] = whole["pattern"]
    return made


def _is_number(value: Any, *types: type[float]) -> bool:
    """Whether it is a number of these types that a request can carry: neither infinite nor larger than any `float`."""
    return isinstance(value, types) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _is_pattern(value: Any) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            return isinstance(value, str) and bool(re.compile(value))
    except (re.error, OverflowError):
        return False


def _is_quiet(value: Any) -> bool:
    """Whether a value holds nothing that a client takes for a reference, and no number that a request cannot carry."""
    try:
        return "$ref" not in json.dumps(value, allow_nan=False)
    except ValueError:
        return False

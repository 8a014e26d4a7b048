"""Converts the schema of a tool's arguments to one that every provider accepts. Pure.

A single tool whose schema a provider rejects, or its client cannot convert, makes every request of the agent fail. Each
schema is therefore rewritten in the subset that all of them accept: without references, with one type or a choice (`anyOf`)
for each part, and with `enum` for strings only. What the subset cannot express is put into the description or dropped; the
server validates the arguments anyway.
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
"""How deeply parts may be nested; deeper ones accept any value."""
_DEPTHS = (8, 4, 2, 1)
"""How many nested references are followed: the most that keep the schema small enough."""
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
        renamed: The server's names of arguments that have another name in the schema.
    """

    schema: dict[str, Any]
    renamed: Mapping[str, str]

    def of(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call with the server's names."""
        return {self.renamed.get(name, name): value for name, value in call.items()}


def arguments_of(schema: Mapping[str, Any]) -> Arguments:
    """The arguments, in a schema that every provider accepts.

    Raises:
        UnusableSchemaError: They cannot be converted; says why.
    """
    try:
        return _named(_smallest(schema))
    except RecursionError:
        raise UnusableSchemaError("the schema of its arguments is nested too deeply") from None


def _smallest(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with as many nested references resolved as its size limit allows."""
    why, followed = "", _DEEPEST
    for depth in _DEPTHS:
        if followed <= depth:  # it would give the same result
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
    """The schema with argument names that every provider accepts."""
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
    """The shape of an argument, with a remark on the server's name for it if it was renamed."""
    own = quoted(name, 100)
    return shape if names[name] == name else _with_remark(shape, f"Its name is {own}.")


def _free(wanted: str, taken: Collection[str], counts: Counter[str]) -> str:
    """An unused name that every provider accepts, with a number if needed.

    Args:
        wanted: The server's name.
        taken: Names in use.
        counts: The last number of each numbered name, from which the search continues.
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
        """The schema of all arguments: an object without a choice, which no provider accepts at the top."""
        schema = self._references.resolve(schema)
        if "object" not in (_types_of(schema) or ("object",)):
            raise UnusableSchemaError("its arguments are not an object")
        schema = self._folded(schema)
        return {
            "type": "object",
            "properties": {},
            **_texts(schema, ("description",)),
            **self._object(schema, 0),
        }

    def _part(self, part: Any, depth: int) -> dict[str, Any]:
        schema = {} if depth > _DEEPEST else self._references.resolve(part)
        annotations = _texts(schema, ("title", "description"))
        if "default" in schema and _is_quiet(schema["default"]):
            annotations["default"] = schema["default"]
        values = _values_of(schema)
        if values is not None:
            return _chosen(annotations, _types_of(schema), values)
        if "properties" in schema:
            schema = self._folded({"type": "object", **schema})
        if options := _options(schema):
            return annotations | self._choice(schema, options, depth)
        return annotations | _either([self._of_type(kind, schema, depth) for kind in _types_of(schema)])

    def _choice(self, schema: Mapping[str, Any], options: Sequence[Any], depth: int) -> dict[str, Any]:
        """A choice between forms; the keywords beside it apply to each of them."""
        shared = {key: value for key, value in schema.items() if key not in _NOT_SHARED}
        forms = [self._references.resolve(option) for option in options]
        return _either(
            [
                _NULL if form.get("type") == "null" else self._part(merged(form, shared), depth + 1)
                for form in forms
            ]
        )

    def _of_type(self, kind: str, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        made = {"type": kind, **_limits(kind, schema)}
        if kind == "array":  # for tuples, an item may have any of the listed forms
            forms = [*schema.get("prefixItems", ()), *schema.get("items", ())]
            made["items"] = _either([self._part(form, depth + 1) for form in forms])
        elif kind == "object":
            made |= self._object(schema, depth)
        return made

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        """The arguments. One named `$ref` would be read as a reference: it is dropped here, and renamed at the top level."""
        found = _mapping(schema, "properties")
        wanted = _required(schema)
        shapes = {name: self._part(found.get(name), depth + 1) for name in dict.fromkeys([*found, *wanted])}
        if depth:
            shapes.pop("$ref", None)
        made: dict[str, Any] = {"properties": shapes} if shapes else {}
        if required := [name for name in wanted if name in shapes]:
            made["required"] = required
        more = schema.get("additionalProperties")
        if isinstance(more, bool) and "patternProperties" not in schema:
            made["additionalProperties"] = more
        elif isinstance(more, Placed):
            made["additionalProperties"] = self._part(more, depth + 1)
        return made

    def _folded(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """An object that has the arguments of all its forms; only those that each form needs are required."""
        made = {key: value for key, value in schema.items() if key not in _CHOICES}
        forms = [self._references.resolve(option) for option in _options(schema)]
        forms = [self._folded(form) for form in forms if form.get("type") != "null"]
        if forms:
            made["properties"] = _united([_mapping(form, "properties") for form in (made, *forms)])
            needed = set.intersection(*(set(_required(form)) for form in forms))
            made["required"] = [*_required(schema), *sorted(needed)]
        return made


def _united(forms: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The arguments of several forms; one with different shapes accepts any of them."""
    found: dict[str, list[Any]] = {}
    for form in forms:
        for name, shape in form.items():
            known = found.setdefault(name, [])
            if shape not in known:
                known.append(shape)
    return {name: shapes[0] if len(shapes) == 1 else {"anyOf": shapes} for name, shapes in found.items()}


def _mapping(schema: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = schema.get(key)
    return found if isinstance(found, Mapping) else {}


def _options(schema: Mapping[str, Any]) -> list[Any]:
    return next((found for key in _CHOICES if isinstance(found := schema.get(key), list) and found), [])


def _required(schema: Mapping[str, Any]) -> list[str]:
    found = schema.get("required")
    names = found if isinstance(found, list) else ()
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


def _types_of(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The types that a part may have; empty if it may have any."""
    declared = schema.get("type")
    names = [_OTHER_TYPES.get(name, name) for name in _listed(declared) if isinstance(name, str)]
    known = tuple(dict.fromkeys(name for name in names if name in _TYPES))
    if known or declared is not None:
        return known
    return ("object",) if "properties" in schema else ("array",) if "items" in schema else ()


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _values_of(schema: Mapping[str, Any]) -> list[Any] | None:
    """The values that a part may have, or `None` if it does not list them."""
    if "const" in schema:
        return [schema["const"]]
    found = schema.get("enum")
    return found if isinstance(found, list) else None


def _chosen(annotations: dict[str, Any], types: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    """One of several values: an `enum` if all are strings, else a remark."""
    texts = list(dict.fromkeys(value for value in values if isinstance(value, str) and value))
    if texts and all(value is None or (isinstance(value, str) and value) for value in values):
        choice = {"type": "string", "enum": texts}
        return annotations | (_either([choice, _NULL]) if None in values else choice)
    if values:
        listed = ", ".join(json.dumps(value, ensure_ascii=False) for value in values)
        annotations = _with_remark(annotations, f"One of: {plain(listed, _LONGEST_VALUES)}.")
    kinds = [kind for kind in types if kind not in {"array", "object"}]
    return annotations | (_either([{"type": kind} for kind in kinds]) if kinds else {})


def _with_remark(shape: Mapping[str, Any], remark: str) -> dict[str, Any]:
    return {**shape, "description": " ".join(filter(None, (shape.get("description"), remark)))}


def _either(forms: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A choice between forms. A single form is returned as it is; nested choices are flattened."""
    forms = [each for form in forms for each in form.get("anyOf", [form])]
    different = [form for at, form in enumerate(forms) if form not in forms[:at]]
    if all(form == _NULL for form in different):
        return {}
    return different[0] if len(different) == 1 else {"anyOf": different}


def _texts(schema: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: plain(schema[key], _LONGEST_HINT) for key in keys if isinstance(schema.get(key), str)}


def _limits(kind: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The constraints on a value of this type."""
    made: dict[str, Any] = {}
    for key in _COUNTS.get(kind, ()):
        if _is_number(schema.get(key), int) and schema[key] >= 0:
            made[key] = schema[key]
    for key in _BOUNDS if kind in {"number", "integer"} else ():
        if _is_number(schema.get(key), int, float):
            made[key] = schema[key]
    if kind == "string" and isinstance(schema.get("format"), str):
        made["format"] = plain(schema["format"], 40)
    if kind == "string" and _is_pattern(schema.get("pattern")):
        made["pattern"] = schema["pattern"]
    return made


def _is_number(value: Any, *types: type[float]) -> bool:
    """Whether it is a number of these types that JSON can carry: neither infinite nor larger than any `float`."""
    return isinstance(value, types) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _is_pattern(value: Any) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            return isinstance(value, str) and bool(re.compile(value))
    except (re.error, OverflowError):
        return False


def _is_quiet(value: Any) -> bool:
    """Whether a value contains nothing that a client reads as a reference, and no number that JSON cannot carry."""
    try:
        return "$ref" not in json.dumps(value, allow_nan=False)
    except ValueError:
        return False

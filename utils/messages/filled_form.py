"""Whether data fills the form of a question. Pure.

A form is a JSON schema, which may come from a third-party agent: what is checked is what a person can mend in a field (that it is there, its type,
its choices and limits), without its patterns and references, which could take any time or reach anywhere. What a schema says otherwise is taken.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

_LONGEST = 60
"""Characters of a name or a choice in a complaint."""
_MOST_CHOICES = 12


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_KINDS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "string": ("text", lambda value: isinstance(value, str)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "number": ("a number", _is_number),
    "integer": ("a whole number", lambda value: _is_number(value) and float(value).is_integer()),
    "array": ("a list", lambda value: isinstance(value, list | tuple)),
    "object": ("an object", lambda value: isinstance(value, Mapping)),
    "null": ("null", lambda value: value is None),
}


def has_fields(form: Mapping[str, Any]) -> bool:
    """Whether a form asks for an object with fields, as all do but those of a foreign agent that asks for one value."""
    return isinstance(form.get("properties"), Mapping)


def complaint_about_answer(form: Mapping[str, Any], data: Mapping[str, Any], *, whole: bool = True) -> str:
    """Why data does not fill a form, with the name of the field; empty if it does, or if the form has no fields.

    Args:
        form: The JSON schema of the answer.
        data: The values of its fields.
        whole: Whether every required field must be present; otherwise a missing one may be in the text beside the data.
    """
    return next(_of_object("", form, data, whole=whole), "")


def _of_object(
    name: str, schema: Mapping[str, Any], data: Mapping[str, Any], *, whole: bool
) -> Iterator[str]:
    fields = schema.get("properties")
    if not isinstance(fields, Mapping):
        return
    required = _listed(schema.get("required")) if whole else ()
    for field in fields:
        if field in required and data.get(field) is None and not _takes_null(fields[field]):
            yield f"{_below(name, field)} is missing"
    for field, value in data.items():
        if field in fields and (value is not None or field in required):
            yield from _of_value(_below(name, field), fields[field], value)
        elif field not in fields and schema.get("additionalProperties") is False:
            yield f"{_below(name, field)} is no field of it"


def _of_value(name: str, schema: Any, value: Any) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        return
    choices = [schema["const"]] if "const" in schema else _listed(schema.get("enum"))
    if choices:
        if _text(value) not in map(_text, choices):  # a page gives every choice as text
            named = ", ".join(_short(_text(choice)) for choice in choices[:_MOST_CHOICES])
            more = " or another of its choices" if len(choices) > _MOST_CHOICES else ""
            yield f"{name} must be {'one of ' if len(choices) > 1 else ''}{named}{more}"
        return
    kinds = [_KINDS[kind] for kind in _types(schema) if kind in _KINDS]
    if kinds and len(kinds) == len(_types(schema)) and not any(fits(value) for _, fits in kinds):
        yield f"{name} must be {' or '.join(kind for kind, _ in kinds)}"
        return
    yield from _of_limits(name, schema, value)
    if isinstance(value, Mapping):
        yield from _of_object(name, schema, value, whole=True)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _of_value(f"each of {name}", schema.get("items"), item)


def _of_limits(name: str, schema: Mapping[str, Any], value: Any) -> Iterator[str]:
    if _is_number(value):
        size, least, most, unit = value, "minimum", "maximum", ""
    elif isinstance(value, str):
        size, least, most, unit = len(value), "minLength", "maxLength", " characters"
    elif isinstance(value, list | tuple):
        size, least, most, unit = len(value), "minItems", "maxItems", " entries"
    else:
        return
    verb = "have" if unit else "be"
    if _is_number(schema.get(least)) and size < schema[least]:
        yield f"{name} must {verb} at least {_text(schema[least])}{unit}"
    if _is_number(schema.get(most)) and size > schema[most]:
        yield f"{name} must {verb} at most {_text(schema[most])}{unit}"


def _types(schema: Mapping[str, Any]) -> Sequence[Any]:
    kind = schema.get("type")
    return [kind] if isinstance(kind, str) else _listed(kind)


def _takes_null(schema: Any) -> bool:
    return isinstance(schema, Mapping) and "null" in _types(schema)


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():  # protocol buffers know no other numbers
        value = int(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _below(name: str, field: object) -> str:
    return f"{name}.{_short(str(field))}" if name else _short(str(field))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"

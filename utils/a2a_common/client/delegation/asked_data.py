"""The data of a remote agent's question: at most one form, and any other data, which is passed on unchanged. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from utils.a2a_common.client.transport.peer_text import cleaned, one_line
from utils.a2a_common.protocol.json_values import complaint_about
from utils.a2a_common.protocol.parts import encode_part
from utils.events import DataPart
from utils.messages.approval import digest_in_form, fenced

_KINDS = frozenset({"string", "boolean", "number", "integer", "array", "object", "null"})
_KEYWORDS = frozenset(
    [
        "type",
        "title",
        "description",
        "default",
        "examples",
        "enum",
        "const",
        "format",
        "pattern",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "uniqueItems",
        "items",
        "required",
        "additionalProperties",
        "readOnly",
        "writeOnly",
        "$schema",
        "$id",
        "$defs",
    ]
)
"""Of a schema without fields: data that happens to have a `type` has others."""

LARGEST_HANDED_ON = 65_536
"""Bytes of the data parts of a question that are handed on: it is stored with the question, and sent with every list of tasks."""

_MOST_LINES = 40
_LONGEST_LINE = 1_000
_LONGEST_SHOWN = 4_000
"""Characters of data that are shown: as much as a person reads in one question beside its text."""

ASKS_WITH_DATA = (
    "It asks with data. It may take no answer in words, but only one that a program sends as data:"
)
CAME_WITH_DATA = "This data came with the question:"
NOT_HANDED_ON = "More of its data is too large or too deeply nested and is not handed on: a program cannot answer it here."
LEFT_OUT = "(More of the data is not shown.)"


@dataclass(frozen=True, slots=True)
class AskedData:
    """The data parts of a question, by kind.

    Attributes:
        form: The JSON schema of the answer; `None` where none of them is one.
        origin: The agent on whose behalf the asking agent says that it asks.
        parts: The others, as they came, with their metadata, as far as they are handed on: not those too large or nested too deeply.
        fields: The fields of the others as a person reads them, a line each.
        left_out: Whether some of the others are not handed on.
    """

    form: Mapping[str, Any] | None
    origin: str
    parts: Sequence[DataPart]
    fields: Sequence[str]
    left_out: bool


def asked_data(parts: Sequence[DataPart]) -> AskedData:
    """Sort the data parts of a question. Of several forms one that asks for an approval counts, else the first; the others are dropped.

    A form with metadata is also handed on unchanged, since its agent may match the answer by the metadata.
    """
    forms = [(part, form) for part in parts if (form := form_in(part.value)) is not None]
    chosen = next((each for each in forms if digest_in_form(each[1])), next(iter(forms), None))
    dropped = [part for part, _ in forms if chosen is None or part is not chosen[0] or not part.metadata]
    others = [part for part in parts if not any(part is each for each in dropped)]
    handed = list(_handed_on(others))
    shown = [part for part in others if form_in(part.value) is None]
    fields = list(islice(chain.from_iterable(_lines("", part.value) for part in shown), _MOST_LINES + 1))
    left_out = len(handed) < len(others)
    if chosen is None:
        return AskedData(None, "", handed, fields, left_out)
    return AskedData(chosen[1], _origin(chosen[0]), handed, fields, left_out)


def form_in(value: Any) -> Mapping[str, Any] | None:
    """The form that a value is or wraps; `None` for other data. Data without fields or a type of JSON Schema is no form."""
    if not isinstance(value, Mapping):
        return None
    wrapped = value.get("form")
    if isinstance(wrapped, Mapping):
        return wrapped
    return value if _is_schema(value) else None


def readable_data(data: AskedData, *, worded: bool) -> str:
    """The data that is no form, in readable form: its fields line by line, in a block that they cannot close; empty for none.

    Args:
        data: The data of the question.
        worded: Whether the question has text beside its data: then an answer in text may be enough.
    """
    kept, room = list[str](), _LONGEST_SHOWN
    for line in data.fields[:_MOST_LINES]:
        if (room := room - len(line)) < 0:
            break
        kept.append(line)
    more = LEFT_OUT if len(kept) < len(data.fields) else ""
    head = CAME_WITH_DATA if worded else ASKS_WITH_DATA
    block = f"{head}\n\n{fenced(chr(10).join(kept))}" if kept else ""
    return "\n\n".join(filter(None, [block, more, NOT_HANDED_ON if data.left_out else ""]))


def _is_schema(value: Mapping[str, Any]) -> bool:
    fields = value.get("properties")
    if isinstance(fields, Mapping):
        return all(isinstance(field, Mapping | bool) for field in fields.values())
    kind = value.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    return bool(kinds) and all(each in _KINDS for each in map(str, kinds)) and _KEYWORDS.issuperset(value)


def _origin(part: DataPart) -> str:
    wrapped = isinstance(part.value, Mapping) and isinstance(part.value.get("form"), Mapping)
    return str(part.value.get("origin") or "") if wrapped else ""


def _handed_on(parts: Sequence[DataPart]) -> Iterator[DataPart]:
    room = LARGEST_HANDED_ON
    for part in parts:
        sent = encode_part(part)
        room -= sent.ByteSize()
        if room < 0 or complaint_about(sent) is not None:
            return
        yield part


def _lines(name: str, value: Any) -> Iterator[str]:
    """Each text, number and truth value with the path to it."""
    match value:
        case Mapping():
            for key, each in value.items():
                yield from _lines(f"{name}.{key}" if name else str(key), each)
        case list():
            for number, each in enumerate(value, 1):
                yield from _lines(f"{name}.{number}" if name else str(number), each)
        case None | "":
            return
        case _:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            head = f"{one_line(name, _LONGEST_LINE // 10)}: " if name else ""
            yield f"{head}{cleaned(text, _LONGEST_LINE)}"

"""Converts a function's return value to a result type, or to text for the model. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, TypeAdapter

from utils.messages.characters import of_whole_characters
from utils.messages.results import Articles, Items, Record, Result, ToolProblem


class UnusableResult(TypeError):
    """A tool returned what no graph can take in."""


def usable(result: Any) -> Any:
    """The return value of a tool.

    Raises:
        UnusableResult: It is a list with changes of the state.
    """
    from langgraph.types import Command

    if isinstance(result, list | tuple) and any(isinstance(each, Command) for each in result):
        raise UnusableResult(
            "A tool returns one `Command`, with all its changes: it returned a list of them."
        )
    return result


def shaped(value: Any, kind: str) -> Result | str:
    """A tool's result as one of the result types, or as text.

    Args:
        value: A shape of `utils.messages.results`, rows, one thing, text, or a plain value.
        kind: What a row is, plural.

    Raises:
        TypeError: It cannot be written as JSON.
    """
    value = of_whole_characters(value)
    match value:
        case str():
            return value
        case None:
            return "Done."
        case Articles() | Items() | Record() | ToolProblem():
            return value
        case Mapping() | BaseModel():
            return Record(kind=kind, item=_fields(value))
        case Sequence() if all(_is_row(row) for row in value):
            return Items(kind=kind, items=[_fields(row) for row in value], total=len(value))
    if _is_row(value):
        return Record(kind=kind, item=_fields(value))
    return TypeAdapter(Any).dump_json(value).decode()


def _is_row(value: object) -> bool:
    named = dataclasses.is_dataclass(value) and not isinstance(value, type)
    return named or isinstance(value, Mapping | BaseModel)


def _fields(row: Any) -> dict[str, Any]:
    plain = TypeAdapter(Any).dump_python(row, mode="json", exclude_none=True)
    return {str(name): value for name, value in plain.items()}

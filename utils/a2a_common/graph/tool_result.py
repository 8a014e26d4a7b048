"""Converts a function's return value to the text for the model. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, TypeAdapter

from utils.messages.characters import of_whole_characters
from utils.messages.results import Articles, Items, Record, ToolProblem, dump_result


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


def result_text(value: Any, kind: str) -> str:
    """The text of a tool's result.

    Args:
        value: A shape of `utils.messages.results`, rows, one thing, text, or a plain value.
        kind: What a row is, plural.

    Raises:
        TypeError: It is nothing that can be written as JSON.
    """
    value = of_whole_characters(value)
    match value:
        case str():
            return value
        case None:
            return "Done."
        case Articles() | Items() | Record() | ToolProblem():
            return dump_result(value)
        case Mapping() | BaseModel():
            return dump_result(Record(kind=kind, item=_fields(value)))
        case Sequence() if all(_is_row(row) for row in value):
            return dump_result(Items(kind=kind, items=[_fields(row) for row in value], total=len(value)))
    if _is_row(value):
        return dump_result(Record(kind=kind, item=_fields(value)))
    return TypeAdapter(Any).dump_json(value).decode()


def _is_row(value: object) -> bool:
    named = dataclasses.is_dataclass(value) and not isinstance(value, type)
    return named or isinstance(value, Mapping | BaseModel)


def _fields(row: Any) -> dict[str, Any]:
    plain = TypeAdapter(Any).dump_python(row, mode="json", exclude_none=True)
    return {str(name): value for name, value in plain.items()}

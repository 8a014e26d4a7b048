"""A tool without lone surrogates in its description and arguments: text with them, as from the environment or a file name, cannot be sent to a model."""

from __future__ import annotations

from copy import copy
from typing import Any

from langchain_core.tools import BaseTool
from pydantic import BaseModel, create_model

from utils.messages.characters import of_whole_characters, whole_characters


def legible(tool: BaseTool) -> BaseTool:
    """The tool, or a copy in which each lone surrogate is replaced by U+FFFD. Arguments within arguments stay as they are."""
    described, schema = whole_characters(tool.description), _legible_schema(tool.args_schema)
    if described is tool.description and schema is tool.args_schema:
        return tool
    return tool.model_copy(update={"description": described, "args_schema": schema})


def _legible_schema(schema: Any) -> Any:
    if isinstance(schema, dict):
        return of_whole_characters(schema)
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        return schema
    fields: dict[str, Any] = {}
    for name, field in schema.model_fields.items():
        cleaned = whole_characters(field.description or "")
        if cleaned != (field.description or ""):
            fields[name] = (field.annotation, copy(field))
            fields[name][1].description = cleaned
    return create_model(schema.__name__, __base__=schema, **fields) if fields else schema

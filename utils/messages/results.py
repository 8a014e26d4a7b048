"""The shapes that tools return, so that models, compression and tables all read the same JSON.

A tool's result is the JSON of one of these models. Lists of ranked text (`Articles`) keep the
most relevant first, which is what relevance-ordered compression needs. A tool may also return
plain text; `parse_result` then gives `None`.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class Article(BaseModel):
    """One retrieved passage. `score` falls with the rank; `metadata` may carry `heading` and `source`."""

    title: str
    url: str
    content: str
    score: float = 0.0
    metadata: dict[str, Any] = Field(default_factory=dict)


class Articles(BaseModel):
    """Passages found for a query, most relevant first. `note` is a remark for the model."""

    model_config = ConfigDict(extra="forbid")

    articles: list[Article]
    note: str | None = None


class Items(BaseModel):
    """Rows of one kind (pull requests, runs, sources).

    Attributes:
        kind: What a row is, plural, with spaces: "pull requests".
        items: Rows with the same keys, in display order; values are scalars or lists of scalars.
        total: How many there are in all, where known.
        note: A remark for the model: what was left out and how to get it.
        source: Address of the list, for people.
    """

    model_config = ConfigDict(extra="forbid")

    kind: str
    items: list[dict[str, Any]]
    total: int | None = None
    note: str | None = None
    source: str | None = None


class Record(BaseModel):
    """One thing with fields: a pull request, a file, a workflow run with its log."""

    model_config = ConfigDict(extra="forbid")

    kind: str
    item: dict[str, Any]
    note: str | None = None
    source: str | None = None


class ToolProblem(BaseModel):
    """A tool that could not do its work: what went wrong and what may be done about it."""

    model_config = ConfigDict(extra="forbid")

    error: str  # a code of utils.errors
    message: str
    retryable: bool = False


Result = Articles | Items | Record | ToolProblem


def parse_result(text: str) -> Result | None:
    """The typed result that `text` is the JSON of, or `None` for anything else. Never raises."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    for model in (Articles, Items, Record, ToolProblem):
        try:
            return model.model_validate(value)
        except ValidationError:
            continue
    return None


def dump_result(result: Result) -> str:
    """The JSON of a result as a tool returns it: compact, absent fields left out."""
    return result.model_dump_json(exclude_none=True)

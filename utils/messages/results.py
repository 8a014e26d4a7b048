"""The result types of tools, as JSON that models, compression and tables read.

Lists of ranked text (`Articles`) have the most relevant entry first, which compression depends on. A tool
may also return plain text, for which `parse_result` gives `None`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from utils.messages.marks import PROBLEM, SHAPE, SHOWN_BEFORE, Shape

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage, ToolMessage

Model = TypeVar("Model", bound=BaseModel)


class Article(BaseModel):
    """One retrieved passage. `score` decreases with the rank; `metadata` may have `heading` and `source`."""

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
        total: Number of all rows, if known.
        note: A remark for the model: what was left out, and how to get it.
        source: URL of the list, for people.
    """

    model_config = ConfigDict(extra="forbid")

    kind: str
    items: list[dict[str, Any]]
    total: int | None = None
    note: str | None = None
    source: str | None = None


class Record(BaseModel):
    """One object with fields: a pull request, a file, a workflow run with its log."""

    model_config = ConfigDict(extra="forbid")

    kind: str
    item: dict[str, Any]
    note: str | None = None
    source: str | None = None


class ToolProblem(BaseModel):
    """The failure of a tool: a code, a sentence, and whether a retry can help. `note` is advice for the model."""

    model_config = ConfigDict(extra="forbid")

    error: str  # a code of utils.errors
    message: str
    retryable: bool = False
    note: str | None = None


Result = Articles | Items | Record | ToolProblem


class ResultText(str):
    """A result type as JSON that says which one it is: any other text only looks like one. Whatever is made of it, but itself, does not say."""

    __slots__ = ("shape",)

    shape: Shape


_SHAPES: Mapping[Shape, type[Articles | Items | Record | ToolProblem]] = {
    Shape.ARTICLES: Articles,
    Shape.ITEMS: Items,
    Shape.RECORD: Record,
    Shape.PROBLEM: ToolProblem,
}


def shape_of(result: Result) -> Shape:
    """Which of the types a result is."""
    return next(shape for shape, model in _SHAPES.items() if isinstance(result, model))


def result_in(message: ToolMessage) -> Result | None:
    """The result that a tool returned as one of the types; `None` for any other one, whatever its text looks like."""
    shape = SHAPE.of(message)
    return None if shape is None else _read(_SHAPES[shape], _text(message))


def failure_in(message: ToolMessage) -> str | None:
    """Why a call failed, in a sentence; `None` for a call that did not, whatever its text looks like."""
    if (marked := PROBLEM.of(message)) is not None:
        return marked.message
    if message.status != "error" and SHAPE.of(message) is not Shape.PROBLEM:
        return None
    said = _read(ToolProblem, _text(message))
    return said.message if said is not None else _text(message)


def _text(message: ToolMessage) -> str:
    from utils.messages.text import message_text

    return message_text(message)


def _read(model: type[Model], text: str) -> Model | None:
    try:
        return model.model_validate_json(text)
    except ValidationError:
        return None


def parse_result(text: str) -> Result | None:
    """Read a text as a model reads it, which sees nothing else: as the result type that it looks like, if any. Never raises.

    Whoever has the message asks `result_in` and `failure_in`, which do not guess.
    """
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


def dump_result(result: Result) -> ResultText:
    """A result as the compact JSON that a tool returns, without unset fields."""
    text = ResultText(result.model_dump_json(exclude_none=True))
    text.shape = shape_of(result)
    return text


def shown_before(messages: Iterable[BaseMessage]) -> set[str]:
    """The calls among messages whose results the user has read already, beside a question."""
    return {call for each in messages for call in SHOWN_BEFORE.of(each) or ()}

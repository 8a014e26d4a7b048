"""What the steps of a turn tell each other on messages, each mark with its key, its place and its type.

A mark stands under its key in the `additional_kwargs` or the `response_metadata` of a message, is stored with the conversation,
and is never sent to a model's provider. Whoever reads one of an older version gets `None` where its value is of no use. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from utils.events import Partial

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    Message = TypeVar("Message", bound=BaseMessage)

Value = TypeVar("Value")


class Place(StrEnum):
    """The part of a message that holds a mark."""

    BESIDES = "additional_kwargs"
    ANSWER = "response_metadata"


@dataclass(frozen=True, slots=True)
class Mark(Generic[Value]):
    """One mark.

    Attributes:
        key: Its key; stored conversations have it, so that it does not change.
        place: Where it stands.
        read: Its value from what is stored; `None` if that is not usable.
        stored: What is stored of a value.
    """

    key: str
    place: Place
    read: Callable[[Any], Value | None]
    stored: Callable[[Value], object]

    def entry(self, value: Value) -> dict[str, Any]:
        """What its place in a message that is made now holds for a value."""
        return {self.key: self.stored(value)}

    def of(self, message: BaseMessage) -> Value | None:
        """Its value on a message; `None` where the message does not have it."""
        return self.within(getattr(message, self.place, {}))

    def within(self, entries: Mapping[str, Any]) -> Value | None:
        """Its value among the entries of its place."""
        return self.read(entries[self.key]) if self.key in entries else None

    def on(self, message: Message, value: Value) -> Message:
        """A copy of a message with it."""
        held = {**getattr(message, self.place, {}), **self.entry(value)}
        return message.model_copy(update={self.place.value: held})


@dataclass(frozen=True, slots=True)
class Problem:
    """How a tool call failed.

    Attributes:
        code: A code of `utils.errors`.
        message: A sentence for the user.
        retryable: Whether a retry can help.
        fatal: Whether the turn fails by it, where no other call succeeds.
        quotes: Whether the message for the model has words of the other side.
    """

    code: str
    message: str
    retryable: bool = False
    fatal: bool = False
    quotes: bool = False


class Shape(StrEnum):
    """What a tool's result is, as its tool said: a type of `utils.messages.results`."""

    ARTICLES = "articles"
    ITEMS = "items"
    RECORD = "record"
    PROBLEM = "problem"


def _besides(key: str) -> Mark[str]:
    return Mark(key, Place.BESIDES, _text, str)


def _texts(key: str) -> Mark[list[str]]:
    return Mark(key, Place.BESIDES, _list, list)


def _flag(key: str, place: Place = Place.BESIDES) -> Mark[bool]:
    return Mark(key, place, bool, bool)


def _text(held: object) -> str | None:
    return held if isinstance(held, str) else None


def _list(held: object) -> list[str] | None:
    return [str(each) for each in held] if isinstance(held, list | tuple) else None


def _number(held: object) -> float | None:
    return float(held) if isinstance(held, int | float) else None


def _count(held: object) -> int | None:
    return held if isinstance(held, int) else None


def _problem(held: Any) -> Problem | None:
    if not isinstance(held, Mapping):
        return None
    return Problem(
        str(held.get("code", "")),
        str(held.get("message", "")),
        retryable=bool(held.get("retryable")),
        fatal=bool(held.get("fatal")),
        quotes=bool(held.get("quotes")),
    )


def _shape(held: object) -> Shape | None:
    return Shape(held) if isinstance(held, str) and held in set(Shape) else None


def _partial(held: Any) -> Partial | None:
    if not isinstance(held, Mapping):
        return None
    return Partial(str(held.get("code", "")), str(held.get("message", "")), bool(held.get("retryable")))


# On the results of tool calls

STOPPED_CALL = _flag("stopped_call")
"""The call was not run."""

PROBLEM = Mark("problem", Place.BESIDES, _problem, asdict)
"""Why the call failed."""

SHAPE = Mark("shape", Place.BESIDES, _shape, str)
"""What the result is, where its tool said so."""

IN_WORDS = _besides("in_words")
"""What the result says besides its notes on files, which the user gets: for a model that quotes results to the user."""

SHOWN_BEFORE = _texts("shown_before")
"""The calls beside it whose results the user has read already."""

MCP_SERVER = _besides("mcp_server")
"""Name of the MCP server in the settings; also a key of a tool's `metadata`."""

FULL_OUTPUT = _besides("full_output")
"""The handle of the full text of a shortened result."""

CHANGED_STATE = _texts("changed_state")
"""The keys of the graph's state without a reducer that the call has changed."""

FINISHED_AT = Mark("finished_at", Place.BESIDES, _number, float)
"""When a delegation ended with an answer, in seconds since 1970."""

WHOLE_ANSWER = _flag("whole_answer")
"""The result is all that the agent said, in words, without a question."""

# On messages of the user, or in their place

DAY = _besides("date")
"""The day on which it was written."""

SAID_AT = _besides("said_at")
"""The moment at which it was written; answers of a model have it too."""

TASK = _besides("delegated_with")
"""What another agent said of the task."""

OWN_WORDS = _besides("own_words")
"""How many characters of it are the user's words; a text, since clients that join neighbouring messages fail on numbers."""

STAND_IN = _flag("stand_in")
"""It replaces a message that was left out."""

# On answers of a model

PARTIAL = Mark("partial", Place.ANSWER, _partial, asdict)
"""Why the answer is only a part."""

ORIGIN = Mark("origin", Place.ANSWER, _text, str)
"""The agent that wrote it, if that is another one."""

COST = Mark("cost_usd", Place.ANSWER, _number, float)
"""What it cost, in US dollars."""

COUNTED_TOKENS = Mark("counted_tokens", Place.ANSWER, _count, int)
"""The counted tokens of its request."""

USAGE_COUNTED = _flag("usage_counted", Place.ANSWER)
"""Its usage is of our own count, which measures nothing."""

ASKS_USER = _flag("asks_user", Place.ANSWER)
"""It is a question to the user, so that the task waits for the reply."""

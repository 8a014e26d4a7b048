"""A list of messages as turns: what was asked, as much of it as is read, what was called with which result, what was answered."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from utils.messages.handles import full_output_of
from utils.messages.marks import IN_WORDS
from utils.messages.notes import own_words
from utils.messages.results import shown_before
from utils.messages.text import message_text

READ = 8_000
"""Characters of a request that are read, half of them at its end, where a question below a pasted text stands."""
LONGEST_WORD = 400
"""Characters of a word that are read: more than addresses, paths and names have, and fewer digits than Python takes for a number."""
LONGEST_GAP = 40
"""Blanks in a row that are read: more than people indent by."""

_WORD = re.compile(rf"(?<!\S)(\S{{{LONGEST_WORD}}})\S+")
_GAP = re.compile(rf"(?<!\s)(\s{{{LONGEST_GAP}}})\s+")


class Legible(NamedTuple):
    """The part of a text that is read. `cut`: more than blanks was left out."""

    text: str
    cut: bool


def legible(text: str) -> Legible:
    """A text with its endless words and gaps cut, and of a long one the lines at its beginning and its end."""
    text, words_cut = _WORD.subn(r"\1", _GAP.sub(r"\1", text))
    if len(text) <= READ:
        return Legible(text, words_cut > 0)
    head, tail = text[: READ // 2], text[-READ // 2 :]
    whole_lines = head.rfind("\n") + 1, tail.find("\n") + 1
    return Legible(f"{head[: whole_lines[0] or None]}\n{tail[whole_lines[1] :]}", cut=True)


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call and what came of it; `result` is `None` while it is open. `shown`: the user has read it already."""

    tool: str
    arguments: Mapping[str, Any]
    result: str | None = None
    shown: bool = False


@dataclass(slots=True)
class Turn:
    """One request of the user with all that followed.

    `request` is what is read of the user's `words`; `cut`: that is not all of them. `came_along`: files or data stood beside the words,
    which are no request.
    """

    request: str
    words: str
    cut: bool = False
    calls: list[Call] = field(default_factory=list)
    rounds: int = 0
    answer: str = ""
    came_along: bool = False


def turns(messages: Sequence[BaseMessage]) -> list[Turn]:
    """The conversation's turns, oldest first. System messages and summaries before the first request are not turns."""
    results = {m.tool_call_id: m for m in messages if isinstance(m, ToolMessage)}
    seen = shown_before(results.values())
    found: list[Turn] = []
    for message in messages:
        if isinstance(message, HumanMessage):
            words = own_words(message)
            came_along = len(words) < len(message_text(message))
            request, cut = legible(words)
            found.append(Turn(request, words, cut, came_along=came_along))
        elif isinstance(message, AIMessage) and found:
            _add(found[-1], message, results, seen)
    return found


def _quotable(result: ToolMessage) -> str:
    """What a user may be shown of a result: not what it notes of files, which stand below the answer."""
    words = IN_WORDS.of(result)
    return words if words and full_output_of(result) is None else message_text(result)


def _add(turn: Turn, message: AIMessage, results: Mapping[str, ToolMessage], seen: Container[str]) -> None:
    for call in message.tool_calls:
        result = results.get(call["id"] or "")
        text = _quotable(result) if result is not None else None
        turn.calls.append(Call(call["name"], call["args"], text, call["id"] in seen))
    if message.tool_calls:
        turn.rounds += 1
    else:
        turn.answer = message_text(message)

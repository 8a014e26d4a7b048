"""What the model does next: call tools, or say something."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from utils.llm.offline.answer import phrases
from utils.llm.offline.answer.compose import compose, left_over
from utils.llm.offline.arguments import flags
from utils.llm.offline.clauses import opens_a_request
from utils.llm.offline.conversation import LONGEST_WORD, READ, Call, Turn, turns
from utils.llm.offline.followup import row_arguments
from utils.llm.offline.grammar import FORMS
from utils.llm.offline.plan import Planner
from utils.llm.offline.similarity import Similarity
from utils.llm.offline.smalltalk import Talk, opens_with_a_greeting, talk_of
from utils.llm.offline.steps import Step, made
from utils.llm.offline.tools import ToolSpec
from utils.llm.offline.words import is_foreign
from utils.messages.results import Items, parse_result
from utils.messages.sentences import orders

ROUNDS = 2
"""Rounds of tool calls for one request at most: a list, and what one of its rows holds."""
CHUNK_WORDS = 4
"""Words of a streamed chunk."""
CUT = (
    f"The message is too long for me: I read the first and the last {READ // 2:,} characters of it, and {LONGEST_WORD} of a word. "
    "A language model reads all of it (docs/offline-model.md)."
)
_BAD = frozenset({"failure", "failed", "timed_out", "startup_failure"})
_IDS = uuid.UUID("6f9d2c5e-0f0b-5c57-9d39-3c0a9f3b8e11")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call to make, with an id that the conversation has not used."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """Text, or calls. Never both. `asks`: the text is a question that has to be answered first."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    asks: bool = False


def reply(
    messages: Sequence[BaseMessage], tools: Sequence[ToolSpec], similarity: Similarity, now: datetime
) -> Reply:
    """Decide from the conversation alone. The same conversation gets the same reply.

    What is said tells where not all of the request was read, unless an agent had all of it, which tells so itself.
    """
    listed = turns(messages)
    if not listed:
        return Reply(phrases.abilities(tools))
    turn = listed[-1]
    if turn.came_along and not turn.request.strip():
        return Reply(phrases.NO_WORDS)
    steps = Planner(tools, similarity, now).plan(listed)
    said = _decided(messages, turn, steps, tools, similarity)
    if not turn.cut or said.calls or any(step.tool and step.tool.delegates for step in steps):
        return said
    return replace(said, text=f"{CUT}\n\n{said.text}")


def _decided(
    messages: Sequence[BaseMessage],
    turn: Turn,
    steps: Sequence[Step],
    tools: Sequence[ToolSpec],
    similarity: Similarity,
) -> Reply:
    used = {str(call["id"]) for each in messages if isinstance(each, AIMessage) for call in each.tool_calls}
    if isinstance(messages[-1], ToolMessage):
        return _answered(turn, steps, similarity, used)
    wanted = [(step.tool.name, step.arguments) for step in made(steps) if step.tool]
    if wanted:
        return Reply(calls=_calls(wanted, used))
    return _spoken(turn, steps, tools, similarity)


def _answered(turn: Turn, steps: Sequence[Step], similarity: Similarity, used: Collection[str]) -> Reply:
    """An answer from the results of the first round, after a second one for what their rows were listed to find."""
    first = len(made(steps)) if turn.rounds >= ROUNDS else len(turn.calls)
    calls, later = turn.calls[:first], turn.calls[first:]
    wanted = [_row_of(step, call) for step, call in zip(made(steps), calls, strict=False)]
    more = [each for each in wanted if each]
    if more and not later:
        return Reply(calls=_calls(more, used))
    for index, each in enumerate(wanted):
        calls[index] = next((one for one in later if (one.tool, one.arguments) == each), calls[index])
    return Reply(compose(turn, steps, calls, similarity))


def _spoken(turn: Turn, steps: Sequence[Step], tools: Sequence[ToolSpec], similarity: Similarity) -> Reply:
    if kind := talk_of(turn.request, similarity):
        return Reply(phrases.talk(kind, tools))
    asks = any(step.tool and step.missing for step in steps)
    if asks or any(step.why for step in steps):
        return Reply("\n\n".join(left_over(steps)), asks=asks)
    if opens_with_a_greeting(turn.request) and not any(
        opens_a_request(step.clause.text) or orders(step.clause.text) or "?" in step.clause.text
        for step in steps
    ):
        return Reply(phrases.talk(Talk.GREETING, tools))
    return Reply(phrases.ENGLISH_ONLY if is_foreign(turn.request) else phrases.outside(tools))


def _calls(wanted: Sequence[tuple[str, Mapping[str, Any]]], used: Collection[str]) -> tuple[ToolCall, ...]:
    calls: dict[str, ToolCall] = {}
    for name, arguments in wanted:
        text = json.dumps([name, arguments], sort_keys=True, default=str)
        if text not in calls:
            identifier = _fresh(text, {*used, *(call.id for call in calls.values())})
            calls[text] = ToolCall(identifier, name, arguments)
    return tuple(calls.values())


def _fresh(text: str, used: Collection[str]) -> str:
    """An id made of what is called and how many calls came before: the same on every run, new in this history."""
    count = len(used)
    while (identifier := f"call_{uuid.uuid5(_IDS, f'{count}:{text}').hex[:24]}") in used:
        count += 1
    return identifier


def pieces(text: str) -> Iterator[str]:
    """A text in small pieces for streaming; joined they are the text."""
    found = re.findall(r"\s*\S+\s*", text)
    for start in range(0, len(found), CHUNK_WORDS):
        yield "".join(found[start : start + CHUNK_WORDS])


def _row_of(step: Step, call: Call) -> tuple[str, Mapping[str, Any]] | None:
    """The call that shows the row which a list was made to find: "why did the last run fail" is a list, then a row of it."""
    result = parse_result(call.result or "")
    if not step.then or not isinstance(result, Items):
        return None
    row = _row(result.items, step.clause.reading)
    detail = row_arguments(step.then, row, call) if row else None
    return (step.then.name, {**flags(step.then, step.clause.reading), **detail}) if detail else None


def _row(rows: Sequence[dict[str, Any]], reading: str) -> dict[str, Any] | None:
    ended = any(
        {"conclusion", "status"} & row.keys() for row in rows
    )  # an issue "about a failed login" has neither
    if not (ended and FORMS["failed"].search(reading)):
        return next(iter(rows), None)
    return next((row for row in rows if {str(row.get("conclusion")), str(row.get("status"))} & _BAD), None)

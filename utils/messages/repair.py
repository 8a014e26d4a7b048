"""Repairs a conversation with interrupted, lost or duplicate messages, so that every provider accepts it.

After `repair` there is at most one system message, at the front. The first other message is the user's; the last is the
user's or a tool result. Every tool call has exactly one result, directly after it, in the order of the calls. Call ids are
unique, and no message is empty. Names are legal, and pictures are in user messages. Nothing else is changed. Idempotent and pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from utils.errors import OutcomeUnknown
from utils.messages.calls import (
    block_call_id,
    call_ids,
    is_thought,
    normal_answer,
    text_blocks,
    with_call_ids,
)
from utils.messages.marks import SHAPE, Shape
from utils.messages.media.normal import with_normal_media
from utils.messages.results import ToolProblem, dump_result
from utils.messages.transcript import as_stand_in, stand_in

INTERRUPTED = "Tool interrupted"
"""Content of a synthetic result, for a call without one."""

CUT_OFF = "The tool {tool} was cut off: whether it had its effect, or still has it later, is unknown."
"""The sentence of such a result where the call had begun and its tool may change something."""

EMPTY_REQUEST = "(empty message)"
EMPTY_RESULT = "(no output)"
OPENING = "(The conversation begins.)"
NUDGE = "(Go on.)"

_ILLEGAL = re.compile(r"[\s<|\\/>]+")  # OpenAI: '^[^\s<|\\/>]+$'
_LONGEST_NAME = 64

Place = tuple[int, int]
"""Position of a call: index of its message, and index among the calls of that message."""


class Repair(NamedTuple):
    """A repaired conversation, and what was changed.

    Attributes:
        system: Its system messages merged into one; `None` if it has none.
        history: All other messages.
        interrupted: Ids of the calls that got a synthetic result.
        dropped: Number of stray or duplicate results left out.
    """

    system: SystemMessage | None
    history: list[BaseMessage]
    interrupted: tuple[str, ...] = ()
    dropped: int = 0

    @property
    def messages(self) -> list[BaseMessage]:
        """The conversation as it may be sent, system message first."""
        return [*([self.system] if self.system else []), *self.history]


def repair(messages: Sequence[BaseMessage]) -> Repair:
    """Repair a conversation, with or without system messages in it."""
    plain = [kept for message in messages if (kept := _plain(message)) is not None]
    system = [message for message in plain if isinstance(message, SystemMessage)]
    history = [message for message in plain if not isinstance(message, SystemMessage)]
    matched = _match_results(history)
    paired, interrupted = _paired(history, matched.results)
    return Repair(
        merge_system(system), _framed(with_normal_media(paired)), tuple(interrupted), matched.dropped
    )


def _framed(history: list[BaseMessage]) -> list[BaseMessage]:
    """The messages with a user message at the front and no model message at the end."""
    first = [] if history and isinstance(history[0], HumanMessage) else [stand_in(OPENING, "opening")]
    last = [stand_in(NUDGE, "nudge")] if history and isinstance(history[-1], AIMessage) else []
    return [*first, *history, *last]


def merge_system(messages: Sequence[SystemMessage]) -> SystemMessage | None:
    """Several system messages as one; `None` if there are none. Content blocks stay blocks."""
    if len(messages) <= 1:
        return messages[0] if messages else None
    if all(isinstance(message.content, str) for message in messages):
        content: str | list[str | dict[str, object]] = "\n\n".join(str(m.content) for m in messages)
    else:
        content = [block for message in messages for block in _blocks(message)]
    return messages[0].model_copy(update={"content": content})


def interrupted_result(call_id: str, name: str) -> ToolMessage:
    """A synthetic result for a call. Its id is derived from the call's, so that repair is idempotent."""
    return ToolMessage(
        INTERRUPTED, tool_call_id=call_id, name=name, status="error", id=_synthetic_id(call_id)
    )


def cut_off_result(call_id: str, name: str) -> ToolMessage:
    """The same for a call that may have had its effect: it is not for the model to make again."""
    problem = ToolProblem(
        error=OutcomeUnknown.code, message=CUT_OFF.format(tool=name), note=OutcomeUnknown.advice
    )
    return interrupted_result(call_id, name).model_copy(
        update={"content": dump_result(problem), "additional_kwargs": SHAPE.entry(Shape.PROBLEM)}
    )


def _synthetic_id(call_id: str) -> str:
    return f"interrupted-{call_id}"


def _is_synthetic(result: ToolMessage) -> bool:
    return result.content == INTERRUPTED or result.id == _synthetic_id(result.tool_call_id)


def _paired(
    history: Sequence[BaseMessage], results: Mapping[Place, ToolMessage]
) -> tuple[list[BaseMessage], list[str]]:
    """The messages with each result directly after its call, and the ids of calls without a result."""
    taken: set[str] = set()
    paired: list[BaseMessage] = []
    interrupted: list[str] = []
    for index, message in enumerate(history):
        if isinstance(message, ToolMessage):
            continue
        if not isinstance(message, AIMessage):
            paired.append(message)
            continue
        ids = call_ids(message, taken)
        paired.append(with_call_ids(message, ids))
        for place, (call_id, call) in enumerate(zip(ids, message.tool_calls, strict=True)):
            result = results.get((index, place))
            if result is None:
                interrupted.append(call_id)
                result = interrupted_result(call_id, call["name"])
            elif result.tool_call_id != call_id:
                result = result.model_copy(update={"tool_call_id": call_id})
            paired.append(result)
    return paired, interrupted


class _Matched(NamedTuple):
    """The outcome of matching.

    Attributes:
        results: The result of each call that has one.
        dropped: Number of results that belong to no call.
    """

    results: dict[Place, ToolMessage]
    dropped: int


def _match_results(history: Sequence[BaseMessage]) -> _Matched:
    """Assign each result to its call, and count the results that belong to none.

    If several messages use the same call id, a result belongs to the latest of them before it. A
    result that precedes its call is used only if the call has no other result.
    A real result replaces a synthetic one.
    """
    calls = _calls(history)
    matched: dict[Place, ToolMessage] = {}
    early: list[ToolMessage] = []
    dropped = 0
    for index, message in enumerate(history):
        if not isinstance(message, ToolMessage):
            continue
        places = calls.get(message.tool_call_id, [])
        if not any(place[0] < index for place in places):
            early.append(message)
            continue
        place = _latest_before(places, index, matched)
        dropped += place is None or place in matched
        if place is not None:
            matched[place] = message
    for message in early:
        free = next((place for place in calls.get(message.tool_call_id, ()) if place not in matched), None)
        if free is None:
            dropped += 1
        else:
            matched[free] = message
    return _Matched(matched, dropped)


def _calls(history: Sequence[BaseMessage]) -> dict[str, list[Place]]:
    calls: defaultdict[str, list[Place]] = defaultdict(list)
    for index, message in enumerate(history):
        if isinstance(message, AIMessage):
            for place, call in enumerate(message.tool_calls):
                calls[str(call["id"] or "")].append((index, place))
    return dict(calls)


def _latest_before(places: Sequence[Place], index: int, matched: dict[Place, ToolMessage]) -> Place | None:
    """The first unanswered call of the latest message before `index` that made a call of this id."""
    before = [place for place in places if place[0] < index]
    if not before:
        return None
    latest = [place for place in before if place[0] == before[-1][0]]
    return next((p for p in latest if p not in matched or _is_synthetic(matched[p])), None)


def _plain(message: BaseMessage) -> BaseMessage | None:
    """The message in a form that providers accept: the same object if possible, `None` to drop it."""
    message = _with_legal_name(message) if not isinstance(message, ToolMessage) else message
    if isinstance(message, ChatMessage):
        message = _from_chat_message(message)
    if isinstance(message, AIMessage):
        answer = normal_answer(message)
        return answer if answer.tool_calls or not _is_blank(answer.content) else None
    if isinstance(message, HumanMessage):
        return (
            as_stand_in(_filled(message, EMPTY_REQUEST))
            if _is_blank(message.content)
            else _filled(message, "")
        )
    if isinstance(message, ToolMessage):
        return _filled(message, EMPTY_RESULT)
    if isinstance(message, SystemMessage):
        return None if _is_blank(message.content) else _filled(message, "")
    return None


def _filled(message: BaseMessage, instead: str) -> BaseMessage:
    """The message without blank blocks and call blocks, with `instead` as content if nothing remains."""
    content = message.content
    if isinstance(content, list):
        kept = text_blocks(b for b in content if not _is_blank_block(b) and block_call_id(b) is None)
        if kept and all(old is new for old, new in zip_longest(content, kept)):
            return message
        return message.model_copy(update={"content": kept or instead})
    return message.model_copy(update={"content": instead}) if _is_blank(content) else message


def _is_blank(content: str | list[str | dict[str, object]]) -> bool:
    if isinstance(content, str):
        return not content or content.isspace()
    return all(_is_blank_block(block) or block_call_id(block) is not None for block in content)


def _is_blank_block(block: object) -> bool:
    if isinstance(block, str):
        return not block or block.isspace()
    if isinstance(block, dict) and block.get("type") == "text":
        text = block.get("text")
        return not isinstance(text, str) or not text or text.isspace()
    return not isinstance(block, dict) or not block or is_thought(block)


def _from_chat_message(message: ChatMessage) -> BaseMessage:
    kinds: dict[str, type[BaseMessage]] = {
        "assistant": AIMessage,
        "ai": AIMessage,
        "system": SystemMessage,
        "developer": SystemMessage,
    }
    kind: type[BaseMessage] = kinds.get(message.role.lower(), HumanMessage)
    return kind(content=message.content, id=message.id)


def _blocks(message: BaseMessage) -> list[str | dict[str, object]]:
    if isinstance(message.content, str):
        return [{"type": "text", "text": message.content}]
    return list(message.content)


def _legal_speaker(name: str) -> str | None:
    """The name, or one derived from it that all providers accept; `None` where nothing of it is left."""
    return (
        _ILLEGAL.sub("_", name).strip("_")[:_LONGEST_NAME] or None
        if _ILLEGAL.search(name)
        else name[:_LONGEST_NAME]
    )


def _with_legal_name(message: BaseMessage) -> BaseMessage:
    """The message with a legal name; the same object if it has one, or none."""
    said = message.additional_kwargs.get("name")
    if not message.name and not isinstance(said, str):
        return message
    name = _legal_speaker(message.name) if message.name else None
    extra = {key: value for key, value in message.additional_kwargs.items() if key != "name"}
    if name == message.name and not isinstance(said, str):
        return message
    return message.model_copy(update={"name": name, "additional_kwargs": extra})

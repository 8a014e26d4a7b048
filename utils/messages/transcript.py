"""Divides a conversation into exchanges, and determines where it may be cut.

An exchange is the smallest part that may be left out: one user message, or one answer of the model with
the results of all its tool calls. Providers reject a call without its result and a result without its
call, so no cut may separate them.

The functions expect a repaired conversation (`utils.messages.repair`). Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from utils.messages.marks import STAND_IN


@dataclass(frozen=True, slots=True)
class Exchange:
    """Messages `start` up to, not including, `stop` of a conversation."""

    start: int
    stop: int
    messages: tuple[BaseMessage, ...]

    @property
    def opener(self) -> BaseMessage:
        """The first message: the user's message, or the answer with the calls."""
        return self.messages[0]

    @property
    def is_human(self) -> bool:
        """Whether this is a user message."""
        return isinstance(self.opener, HumanMessage)

    @property
    def results(self) -> tuple[ToolMessage, ...]:
        """Results of the tool calls, in the order of the calls."""
        return tuple(message for message in self.messages if isinstance(message, ToolMessage))


def split_system(messages: Sequence[BaseMessage]) -> tuple[list[SystemMessage], list[BaseMessage]]:
    """The leading system messages, and everything after them."""
    system: list[SystemMessage] = []
    for message in messages:
        if not isinstance(message, SystemMessage):
            break
        system.append(message)
    return system, list(messages[len(system) :])


def exchanges(messages: Sequence[BaseMessage]) -> list[Exchange]:
    """The exchanges of a conversation without system messages, oldest first."""
    starts = [index for index, message in enumerate(messages) if not isinstance(message, ToolMessage)]
    stops = [*starts[1:], len(messages)] if starts else []
    return [
        Exchange(start, stop, tuple(messages[start:stop])) for start, stop in zip(starts, stops, strict=True)
    ]


def active_index(messages: Sequence[BaseMessage]) -> int | None:
    """Index of the active request, the user's last message; `None` if there is no user message."""
    stand_ins: int | None = None
    for index in range(len(messages) - 1, -1, -1):
        if isinstance(messages[index], HumanMessage):
            if not is_stand_in(messages[index]):
                return index
            stand_ins = index
    return stand_ins


def calls_this_turn(messages: Sequence[BaseMessage]) -> int:
    """Model calls since the user's last message."""
    start = active_index(messages)
    tail = messages if start is None else messages[start + 1 :]
    return sum(isinstance(message, AIMessage) for message in tail)


def stand_in(text: str, message_id: str) -> HumanMessage:
    """A synthetic user message, where providers require one."""
    return HumanMessage(text, id=message_id, additional_kwargs=STAND_IN.entry(True))


def as_stand_in(message: BaseMessage) -> BaseMessage:
    """The message marked as synthetic."""
    return STAND_IN.on(message, True)


def is_stand_in(message: BaseMessage) -> bool:
    """Whether this is a synthetic user message."""
    return bool(STAND_IN.of(message))


def legal_cuts(messages: Sequence[BaseMessage]) -> list[int]:
    """Indices at which a conversation without system messages may begin, ascending; 0 keeps everything.

    Up to the active request a conversation may begin at any user message, since providers require the
    first message to be the user's. After it, it may begin at any exchange: `after_cut` then puts the
    active request in front.
    """
    active = active_index(messages)
    if active is None:
        return [0]
    return [
        exchange.start
        for exchange in exchanges(messages)
        if exchange.start == 0 or exchange.start > active or exchange.is_human
    ]


def after_cut(messages: Sequence[BaseMessage], cut: int) -> list[BaseMessage]:
    """The messages that remain visible if a conversation begins at `cut`.

    If that is inside a turn or at the end, the request of that turn is put in front. It stays there in
    later turns, so that the prefix of the requests does not change.
    """
    begins = (
        cut < len(messages) and isinstance(messages[cut], HumanMessage) and not is_stand_in(messages[cut])
    )
    if cut == 0 or begins:
        return list(messages[cut:])
    request = active_index(messages[:cut])
    return [*([] if request is None else [messages[request]]), *messages[cut:]]


def tool_names(messages: Iterable[BaseMessage]) -> list[str]:
    """Names of the called tools, in the order of the calls."""
    return [
        call["name"] for message in messages if isinstance(message, AIMessage) for call in message.tool_calls
    ]


def position_of(messages: Sequence[BaseMessage], message_id: str | None) -> int | None:
    """Index of the last message with this id, or `None`."""
    if message_id is None:
        return None
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].id == message_id:
            return index
    return None


def with_ids(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The same messages, each with a unique id.

    A missing or repeated id is replaced by one derived from the message's index, which is stable in a
    conversation that only grows.
    """
    seen: set[str] = set()
    named: list[BaseMessage] = []
    for index, message in enumerate(messages):
        if not message.id or message.id in seen:
            message = message.model_copy(update={"id": f"{message.id or 'message'}-{index}"})  # noqa: PLW2901
        seen.add(str(message.id))
        named.append(message)
    return named

"""Digest of the supervisor's conversation for a sub-agent or a synthesis: shortened text, no messages. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from utils.a2a_common.protocol.delegation_context import PreviousResult, Remark
from utils.messages.marks import FINISHED_AT
from utils.messages.notes import timestamp_of
from utils.messages.results import failure_in
from utils.messages.text import message_text
from utils.messages.transcript import active_index

MOST_RESULTS = 5
LONGEST_RESULT = 3_000
LONGEST_REMARK = 200


@dataclass(frozen=True, slots=True)
class Briefing:
    """The parts of a conversation that other agents may need.

    Attributes:
        request: The user's active request.
        history: The earlier messages as the user saw them, each with its time and cut to 200 characters.
        results: The newest results of sub-agents, oldest first, each cut to 3,000 characters.
    """

    request: str
    history: Sequence[Remark]
    results: Sequence[PreviousResult]


def briefing(messages: Sequence[BaseMessage], turns: int) -> Briefing:
    """The digest for the next request; `turns` is how many earlier turns it contains."""
    active = active_index(messages)
    request = message_text(messages[active]) if active is not None else ""
    remarks = [remark for message in messages[: active or 0] if (remark := _remark(message)) is not None]
    history = remarks[-2 * turns :] if turns else []
    return Briefing(request, history, _results(messages)[-MOST_RESULTS:])


def _remark(message: BaseMessage) -> Remark | None:
    text = message_text(message).strip()[:LONGEST_REMARK]
    if isinstance(message, HumanMessage) and text:
        return Remark("user", text, timestamp_of(message))
    if isinstance(message, AIMessage) and text and not message.tool_calls:
        return Remark("assistant", text, timestamp_of(message))
    return None


def _results(messages: Sequence[BaseMessage]) -> list[PreviousResult]:
    asked = {
        str(call["id"]): str(call["args"].get("request", ""))
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    }
    return [
        PreviousResult(
            task=asked.get(message.tool_call_id, ""),
            result=message_text(message)[:LONGEST_RESULT],
            timestamp=FINISHED_AT.of(message) or 0.0,
            agent=str(message.name or ""),
        )
        for message in messages
        if isinstance(message, ToolMessage) and _is_agent_result(message)
    ]


def _is_agent_result(message: ToolMessage) -> bool:
    """Whether a message is an agent's result: the next agent needs no failures and no results of other tools."""
    return FINISHED_AT.of(message) is not None and failure_in(message) is None

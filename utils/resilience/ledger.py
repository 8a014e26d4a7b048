"""Tracks tool calls without a result, and repairs conversations that were interrupted.

Every provider refuses a conversation in which a tool call has no result. So however a run ends,
each call that is still open gets a synthetic result, directly after the call, in the stored
conversation: at the end of the run where there is one, else (a killed process) before the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import structlog
from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage, ToolMessage
from langgraph.constants import END
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from utils.messages.repair import cut_off_result, interrupted_result
from utils.observability import catalogue
from utils.observability.metrics import count

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

log = structlog.get_logger(__name__)

_TOOLS_NODE = "tools"

MayHaveRun = Callable[[str, str], bool]
"""Whether the call with an id, of the tool with a name, may have had an effect."""


class Ledger:
    """The calls of one run that have no result yet; `pending_tool_calls` maps call ids to tool names."""

    def __init__(self) -> None:
        self.pending_tool_calls: dict[str, str] = {}

    def observe(self, message: BaseMessage) -> None:
        """Update from a message of the run: an answer opens calls, a result closes one."""
        if isinstance(message, AIMessage):
            self.pending_tool_calls.update({str(call["id"]): call["name"] for call in message.tool_calls})
        elif isinstance(message, ToolMessage):
            self.pending_tool_calls.pop(message.tool_call_id, None)


async def close_open_calls(graph: Any, config: Any, state: StateSnapshot, may_have_run: MayHaveRun) -> int:
    """Add a synthetic result for each open tool call of a stored conversation; return how many.

    Args:
        graph: A compiled LangGraph agent with a checkpointer.
        config: Names the thread.
        state: What is stored of it.
        may_have_run: Of which calls the model reads that their outcome is unknown.
    """
    if _TOOLS_NODE not in graph.nodes:
        return 0
    messages: Sequence[BaseMessage] = state.values.get("messages", ())
    update, names = closing_update(messages, may_have_run)
    if not names:
        return 0
    await graph.aupdate_state(config, None, as_node=END)  # keeps the results of other calls of the same step
    await graph.aupdate_state(config, update, as_node=_TOOLS_NODE)
    count(catalogue.REPAIRS, len(names), where="storage")
    log.warning(
        "tool_calls.interrupted",
        message=f"Added {len(names)} synthetic ToolMessages for interrupted tool calls",
        tools=names,
    )
    return len(names)


def closing_update(
    messages: Sequence[BaseMessage], may_have_run: MayHaveRun = lambda _call, _tool: False
) -> tuple[Mapping[str, Any], list[str]]:
    """The state update that closes every open call, and the names of the calls' tools. Pure.

    Results are inserted directly after those that the same answer's other calls have. Where only the
    last answer has open calls, they are appended; else the whole list is rewritten with the same ids.
    """
    closed: list[BaseMessage] = []
    added: list[ToolMessage] = []
    early = False
    for index, message in enumerate(messages):
        if not isinstance(message, ToolMessage):
            early = early or bool(added)
        closed.append(message)
        following = messages[index + 1] if index + 1 < len(messages) else None
        if not isinstance(following, ToolMessage):
            missing = _missing(closed, may_have_run)
            added += missing
            closed += missing
    names = [str(message.name) for message in added]
    if early:
        return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *closed]}, names
    return {"messages": added}, names


def _missing(messages: Sequence[BaseMessage], may_have_run: MayHaveRun) -> list[ToolMessage]:
    """Synthetic results for the open calls of the last answer, when only results follow it."""
    answered: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
            continue
        if not isinstance(message, AIMessage):
            return []
        calls = [(str(call["id"]), call["name"]) for call in message.tool_calls]
        return [
            (cut_off_result if may_have_run(call_id, name) else interrupted_result)(call_id, name)
            for call_id, name in calls
            if call_id not in answered
        ]
    return []

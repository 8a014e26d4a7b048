"""Records each tool call before it runs and when it has ended, and answers a repeated call of a recovered turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage

from utils.a2a_common.graph.tools.call_outcome import CallOutcome, decode, encode
from utils.errors import OutcomeUnknown
from utils.messages.repeatable import may_repeat
from utils.persistence.tool_record import CallKey

if TYPE_CHECKING:
    from langgraph.prebuilt.tool_node import ToolCallRequest

    from utils.persistence.tool_record import ToolRecord

CUT_OFF = (
    "The tool {tool} was cut off by a restart: whether it had its effect is unknown. It was not run again."
)


class CallRecorder:
    """The record of one tool call.

    A call of a tool that may be repeated is recorded only once it has ended: without a record it is run.

    Args:
        record: Where calls are recorded; `None` for a call whose outcome is found by other means.
        request: The call.
    """

    def __init__(self, record: ToolRecord | None, request: ToolCallRequest) -> None:
        context = request.runtime.context
        self._recovered = bool(getattr(context, "recovered", False))
        self._record = record
        self._key = _key(request, str(getattr(context, "task_id", "")))
        self._tool = request.tool_call["name"]
        self._repeatable = request.tool is None or may_repeat(request.tool.metadata)

    async def earlier(self) -> CallOutcome | None:
        """The outcome of the same call in a process that died; `None` if it did not end or may be repeated.

        Raises:
            OutcomeUnknown: It began, did not end, and may not be repeated.
            StorageError: The record cannot be read.
        """
        if self._record is None or not self._recovered:
            return None
        known = await self._record.get(self._key)
        if known is None:
            return None
        if known.outcome is None:
            if self._repeatable:
                return None
            raise OutcomeUnknown(CUT_OFF.format(tool=self._tool))
        return decode(known.outcome)

    async def begin(self) -> None:
        """Record that the call begins.

        Raises:
            StorageError: It cannot be written, so the tool must not run.
        """
        if self._record is not None and not self._repeatable:
            await self._record.begin(self._key)

    async def finish(self, outcome: CallOutcome) -> None:
        """Record the outcome.

        Raises:
            StorageError: It cannot be written.
        """
        if self._record is not None:
            await self._record.finish(self._key, encode(outcome))

    async def withdraw(self) -> None:
        """The call waits for the user: it begins again from its start with the answer."""
        if self._record is not None and not self._repeatable:
            await self._record.withdraw(self._key)


def _key(request: ToolCallRequest, task_id: str) -> CallKey:
    call_id = str(request.tool_call["id"])
    return CallKey(task_id, _step(_messages(request.state), call_id), call_id)


def _messages(state: Any) -> Sequence[BaseMessage]:
    return state.get("messages", ()) if isinstance(state, dict) else getattr(state, "messages", ())


def _step(messages: Sequence[BaseMessage], call_id: str) -> str:
    """Id of the model's answer that made the call."""
    for message in reversed(messages):
        if isinstance(message, AIMessage) and any(call["id"] == call_id for call in message.tool_calls):
            return str(message.id or "")
    return ""

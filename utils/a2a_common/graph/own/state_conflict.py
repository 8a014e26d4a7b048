"""Ends a turn in which several tool calls of one reply changed a key of the agent's own state that has no reducer.

LangGraph refuses such changes when it applies them, and again whenever the conversation is read, which could not be
continued then. So the last one is kept, and the turn ends with a sentence before the model is asked again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.channels import LastValue
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from utils.errors import PlatformError
from utils.messages.marks import CHANGED_STATE

CONFLICT = (
    "Several tools changed {keys} of this agent's state at once, and only the last change was kept, because nothing says how they are joined. "
    "Look what was kept, and ask for one change at a time. Whoever wrote the agent can give the key a reducer in `state_schema`."
)


class StateConflict(PlatformError):
    """Tool calls of one reply changed the same key of an agent's own state, which has no reducer."""

    code = "state_conflict"


class LastOfStep(LastValue[Any]):
    """A key without a reducer: of several changes of one step the last one counts."""

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        """Take in the changes of one step."""
        return super().update(values[-1:])


def own_keys(state_schema: type[Any] | None) -> frozenset[str]:
    """The keys that an agent adds to the state of every agent. Pure."""
    if state_schema is None:
        return frozenset()
    return frozenset(getattr(state_schema, "__annotations__", {})) - AgentState.__annotations__.keys()


def keep_last(graph: Any, keys: Collection[str]) -> frozenset[str]:
    """Let a compiled graph take several changes of a key in one step; return the keys among these that have no reducer."""
    plain = frozenset(key for key in keys if type(graph.channels.get(key)) is LastValue)
    for key in plain:
        graph.channels[key] = LastOfStep(graph.channels[key].typ, key)
    return plain


class StateChanges(AgentMiddleware[Any, Any]):
    """Marks the keys that each call changes, and checks the marks of a step before the next model call.

    Attributes:
        keys: The keys without a reducer; known once the graph is made.
    """

    def __init__(self) -> None:
        super().__init__()
        self.keys: frozenset[str] = frozenset()

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run the call, and mark its result."""
        result = await handler(request)
        update = result.update if isinstance(result, Command) else None
        changed = sorted(self.keys & update.keys()) if isinstance(update, Mapping) else []
        return _marked(result, changed, str(request.tool_call["id"])) if changed else result

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | AIMessage:
        """Call the model.

        Raises:
            StateConflict: The step before has changed a key several times.
        """
        if keys := conflicts(request.messages):
            raise StateConflict(CONFLICT.format(keys=" and ".join(f"`{key}`" for key in keys)))
        return await handler(request)


def conflicts(messages: Sequence[BaseMessage]) -> list[str]:
    """The keys that several of the results at the end of a conversation are marked with. Pure."""
    step = takewhile(lambda message: isinstance(message, ToolMessage), reversed(messages))
    counted = Counter(key for result in step for key in CHANGED_STATE.of(result) or ())
    return sorted(key for key, count in counted.items() if count > 1)


def _marked(result: Any, changed: Sequence[str], call_id: str) -> Command[Any]:
    """The command with the mark on the message of the call; it may contain messages of other calls."""

    def marked(message: Any) -> Any:
        if not (isinstance(message, ToolMessage) and message.tool_call_id == call_id):
            return message
        return CHANGED_STATE.on(message, list(changed))

    messages = [marked(message) for message in result.update.get("messages", ())]
    return replace(result, update={**result.update, "messages": messages})

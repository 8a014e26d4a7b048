"""One middleware made of several that only wrap calls.

LangChain decorates each hook of each middleware with LangSmith's `traceable`, which inspects its arguments and sets up a
tracing context, also when tracing is off. One composed middleware pays for that once. It is composed only when tracing is off,
so that a trace still has a span for each middleware.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware import (
    AgentMiddleware,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain.agents.middleware.types import ExtendedModelResponse
from langchain_core.messages import ToolMessage
from langgraph.types import Command

ModelHandler = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
ToolHandler = Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]


def composed(parts: Sequence[AgentMiddleware[Any, Any]]) -> list[AgentMiddleware[Any, Any]]:
    """The parts as one middleware; the parts themselves when LangSmith's tracing is on."""
    from langsmith.utils import tracing_is_enabled

    return list(parts) if tracing_is_enabled() else [ComposedMiddleware(parts)]


class ComposedMiddleware(AgentMiddleware[Any, Any]):
    """Calls its parts from the outside in.

    Args:
        parts: Each wraps model calls, tool calls or both, asynchronously, and has no hook of another kind. At most one has a
            state schema of its own, and at most one answers a model call with a command.

    Attributes:
        parts: The same, to be composed with others.
    """

    def __init__(self, parts: Sequence[AgentMiddleware[Any, Any]]) -> None:
        super().__init__()
        self.parts = tuple(parts)
        base = AgentMiddleware
        self.tools = [tool for part in parts for tool in getattr(part, "tools", ())]
        plain = self.state_schema
        (self.state_schema,) = {part.state_schema for part in parts} - {plain} or {plain}
        self._name = " ".join(part.name for part in parts)
        self._around_model = [
            part for part in parts if type(part).awrap_model_call is not base.awrap_model_call
        ]
        self._around_tools = [
            part for part in parts if type(part).awrap_tool_call is not base.awrap_tool_call
        ]

    @property
    def name(self) -> str:
        """The names of the parts; unique in an agent as each of them is."""
        return self._name

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: ModelHandler
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Call the model through every part; the command of the last attempt goes with the answer."""
        commands: list[Command[Any]] = []
        for part in reversed(self._around_model):
            handler = _around_model(part, handler, commands)
        response = await handler(request)
        return ExtendedModelResponse(response, *commands) if commands else response

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: ToolHandler
    ) -> ToolMessage | Command[Any]:
        """Call the tool through every part."""
        for part in reversed(self._around_tools):
            handler = _around_tool(part, handler)
        return await handler(request)


def _around_model(
    part: AgentMiddleware[Any, Any], inner: ModelHandler, commands: list[Command[Any]]
) -> ModelHandler:
    async def call(request: ModelRequest[Any]) -> ModelResponse[Any]:
        answered: Any = await part.awrap_model_call(request, inner)
        if not isinstance(answered, ExtendedModelResponse):
            return answered if isinstance(answered, ModelResponse) else ModelResponse([answered])
        commands[:] = [answered.command] if answered.command is not None else []
        return answered.model_response

    return call


def _around_tool(part: AgentMiddleware[Any, Any], inner: ToolHandler) -> ToolHandler:
    async def call(request: ToolCallRequest) -> ToolMessage | Command[Any]:
        return await part.awrap_tool_call(request, inner)

    return call

"""Keeps what each finished delegation returned in the graph's state."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from multi_agents.platform_engineer.node_outputs import NodeOutputsState, number_of, output_of
from multi_agents.platform_engineer.tool_call_origin import tool_call_origin
from utils.messages.handles import full_output_of
from utils.messages.marks import FINISHED_AT
from utils.messages.text import message_text


class NodeOutputsMiddleware(AgentMiddleware[Any, Any]):
    """Around each delegation: adds its result to `node_outputs`, as the model sees it."""

    state_schema = NodeOutputsState

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run the call; a finished delegation's result changes the state too."""
        result = await handler(request)
        if not isinstance(result, ToolMessage) or FINISHED_AT.of(result) is None:
            return result
        agent, messages = request.tool_call["name"], request.state["messages"]
        origin = tool_call_origin("", messages, str(request.tool_call["id"]))
        number = number_of(messages, agent, origin.step, origin.call_id)
        data = result.artifact if isinstance(result.artifact, list) else []
        output = output_of(message_text(result), data, full_output_of(result) or "")
        message = result.model_copy(update={"artifact": None})
        return Command(update={"messages": [message], "node_outputs": {agent: {number: output}}})

"""Turns the delegations that the model decided on into steps of the plan, before they begin."""

from __future__ import annotations

from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from multi_agents.platform_engineer.plan import plan_steps


class PlanMiddleware(AgentMiddleware):
    """After each model answer with tool calls, reports one step per call."""

    async def aafter_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Report the new steps."""
        last = state["messages"][-1]
        if isinstance(last, AIMessage) and last.tool_calls:
            calls = [
                (str(call["id"]), call["name"], str(call["args"].get("request", call["name"])))
                for call in last.tool_calls
            ]
            runtime.stream_writer(plan_steps(calls, order=1))

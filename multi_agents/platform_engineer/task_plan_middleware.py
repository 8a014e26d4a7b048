"""Adds the model's delegations to the plan before they start."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from multi_agents.platform_engineer.task_plan import delegations_of, plan_steps


class PlanMiddleware(AgentMiddleware):
    """After each model answer that delegates, reports one step per delegation.

    Args:
        agents: The names of the tools that are agents, as they are known now.
    """

    def __init__(self, agents: Callable[[], Collection[str]]) -> None:
        super().__init__()
        self._agents = agents

    async def aafter_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Report the new steps."""
        last = state["messages"][-1]
        if isinstance(last, AIMessage) and last.tool_calls:
            calls = delegations_of(last, self._agents())
            if calls:
                runtime.stream_writer(plan_steps(calls, order=1))

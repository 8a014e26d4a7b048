"""Adds the model's delegations to the plan before they start."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage

from multi_agents.platform_engineer.task_plan import delegations_of, plan_steps


class PlanMiddleware(AgentMiddleware[Any, Any]):
    """After each model answer that delegates, reports one step per delegation.

    It wraps the model call: a hook after it would be one more node of the graph, with a checkpoint of its own for each answer.

    Args:
        agents: The names of the tools that are agents, as they are known now.
    """

    def __init__(self, agents: Callable[[], Collection[str]]) -> None:
        super().__init__()
        self._agents = agents

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model, and report the new steps."""
        response = await handler(request)
        last = response.result[-1]
        if isinstance(last, AIMessage) and last.tool_calls:
            calls = delegations_of(last, self._agents())
            if calls:
                request.runtime.stream_writer(plan_steps(calls, order=1))
        return response

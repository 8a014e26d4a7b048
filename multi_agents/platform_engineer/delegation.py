"""Sub-agents as tools: one tool per agent, which sends a task over A2A and returns the final artifact."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from uuid import UUID, uuid5
from weakref import WeakValueDictionary

from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from utils.a2a_common.client_pool import ClientPool
from utils.a2a_common.delegation_scope import DelegationScope
from utils.a2a_common.registry import SubAgent, SubAgentRegistry
from utils.a2a_common.remote_agent import Errand, RemoteAgent
from utils.a2a_common.request import AgentRequest
from utils.a2a_common.tool_boundary import DELEGATION
from utils.errors import SubAgentUnavailable
from utils.events import DelegationState, UsageReported

if TYPE_CHECKING:
    from utils.a2a_common.remote_task import RemoteTask
    from utils.persistence.contexts import RemoteContexts

_NAMESPACE = UUID("a3a0f5c6-8f7e-4d0c-8a62-3f2f5f8f5b1d")


class DelegationInput(BaseModel):
    """Arguments of a delegation tool."""

    request: str = Field(
        description="What the agent shall do, in full sentences with all names, numbers and limits."
    )


class Delegation:
    """Makes and runs the delegation tools. Holds connections only; a request's state comes with each call."""

    def __init__(
        self,
        registry: SubAgentRegistry,
        pool: ClientPool,
        contexts: RemoteContexts,
        *,
        deadline_seconds: float,
    ) -> None:
        self._registry = registry
        self._pool = pool
        self._contexts = contexts
        self._deadline_seconds = deadline_seconds
        self._turns: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    def tools(self) -> list[BaseTool]:
        """One tool for each sub-agent whose card is known."""
        return [self._tool(agent) for agent in self._registry.known]

    def _tool(self, agent: SubAgent) -> BaseTool:
        async def delegate(request: str, runtime: ToolRuntime[AgentRequest]) -> str:
            return await self._delegate(agent.name, request, runtime)

        return StructuredTool.from_function(
            coroutine=delegate,
            name=agent.name,
            description=_description(agent),
            args_schema=DelegationInput,
            metadata={"examples": agent.examples, DELEGATION: True},
        )

    async def _delegate(self, name: str, text: str, runtime: ToolRuntime[AgentRequest]) -> str:
        agent, request = self._registry.get(name), runtime.context
        if agent.card is None:
            raise SubAgentUnavailable(f"The {name} agent is not known yet.")
        remote = RemoteAgent(name, await self._pool.client(name, agent.card))
        # One errand at a time in a remote conversation: a second one would be refused or mixed up.
        lock = self._turns.setdefault((request.thread_id, name), asyncio.Lock())
        async with lock:
            context_id = await self._contexts.get(request.thread_id, name)
            errand = self._errand(text, runtime, context_id)
            task = await remote.run(errand, runtime.stream_writer)
            if task.context_id and task.context_id != context_id:
                await self._contexts.put(request.thread_id, name, task.context_id)
        if task.usage is not None:
            runtime.stream_writer(_named(task.usage, name))
        return _result(name, task)

    def _errand(self, text: str, runtime: ToolRuntime[AgentRequest], context_id: str) -> Errand:
        request, call_id = runtime.context, str(runtime.tool_call_id)
        asked = _asking_message(runtime.state["messages"], call_id)
        calls = [call["id"] for call in asked.tool_calls] if asked else [call_id]
        message_id = str(uuid5(_NAMESPACE, f"{request.task_id}/{asked.id if asked else ''}/{call_id}"))
        scope = DelegationScope(
            original_request=request.text,
            subtask_index=calls.index(call_id) + 1,
            total_subtasks=len(calls),
            parent_task_id=request.task_id,
            deadline_seconds=self._deadline_seconds,
        )
        return Errand(call_id, text, message_id, context_id, scope, self._deadline_seconds)


def _description(agent: SubAgent) -> str:
    """What a model reads of an agent. The agent's own words are quoted: they are data."""
    return f'Delegates to the agent "{agent.name}", which says of itself: "{agent.description}"'


def _asking_message(messages: list[BaseMessage], call_id: str) -> AIMessage | None:
    for message in reversed(messages):
        if isinstance(message, AIMessage) and any(call["id"] == call_id for call in message.tool_calls):
            return message
    return None


def _named(usage: UsageReported, agent: str) -> UsageReported:
    """A sub-agent's usage under our name for it; agents further down keep theirs, as a path."""
    own = {agent if name == agent else f"{agent}/{name}": tokens for name, tokens in usage.by_agent.items()}
    return UsageReported(own)


def _result(name: str, task: RemoteTask) -> str:
    if task.state is DelegationState.COMPLETED:
        return task.text() or f"The {name} agent completed the task without an answer."
    return f"The {name} agent needs more information from the user before it can go on: {task.text()}"

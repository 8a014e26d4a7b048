"""Sub-agents as tools: one tool per agent, which sends a task over A2A and returns the final artifact."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Container
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5
from weakref import WeakValueDictionary

import structlog
from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.types import interrupt
from pydantic import BaseModel, Field

from multi_agents.platform_engineer.abandoned import Abandoned
from multi_agents.platform_engineer.conversation_digest import FINISHED_AT
from multi_agents.platform_engineer.delegation_scope import DelegationScopes
from multi_agents.platform_engineer.node_outputs import HOW_TO_QUOTE, NOTHING_QUOTED, data_of, quoted
from multi_agents.platform_engineer.passed_answer import whole_answer
from multi_agents.platform_engineer.passed_files import content_for, passed_files
from multi_agents.platform_engineer.sub_usage import under_name, usage_since
from multi_agents.platform_engineer.tool_call_origin import ToolCallOrigin, tool_call_origin
from utils.a2a_common.client.bulkhead import Bulkhead
from utils.a2a_common.client.client_pool import ClientPool
from utils.a2a_common.client.heartbeat import Report
from utils.a2a_common.client.registry import SubAgent, SubAgentRegistry
from utils.a2a_common.client.remote_agent import AWAY, RemoteAgent, RemoteCall
from utils.a2a_common.client.sentences import (
    SUB_AGENT_NO_ANSWER,
    SUB_AGENT_UNKNOWN,
    SUB_AGENT_UNREACHABLE_FOR_ANSWER,
)
from utils.a2a_common.graph.interrupts import Reply, question_of
from utils.a2a_common.graph.tool_boundary import DELEGATION
from utils.a2a_common.protocol.delegation_chain import LOOP
from utils.a2a_common.protocol.delegation_context import reference_of
from utils.a2a_common.protocol.extensions import CONTEXT_EXTENSION, parse_usage, usage_payload
from utils.a2a_common.protocol.request import AgentRequest
from utils.a2a_common.protocol.shares import Shares
from utils.errors import DelegationFailed, SubAgentUnavailable
from utils.events import (
    DelegationFinished,
    DelegationProgress,
    DelegationStarted,
    DelegationState,
    InputRequired,
    Usage,
    UsageReported,
)
from utils.messages.results import STOPPED_CALL, ToolProblem, dump_result
from utils.persistence.delegations import COMPLETED, FAILED, WAITING, WORKING, DelegationRecord
from utils.resilience.timing import Deadline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utils.a2a_common.client.task_view import TaskView
    from utils.persistence.contexts import RemoteContexts
    from utils.persistence.delegations import DelegationStore
    from utils.settings import SubAgentSettings

log = structlog.get_logger(__name__)

_NAMESPACE = UUID("a3a0f5c6-8f7e-4d0c-8a62-3f2f5f8f5b1d")

_LOOK_SECONDS = 5.0
"""How long an answer waits for the first look at the agents after a start."""


WholeText = Callable[[str, str], Awaitable[str | None]]
"""Reads the whole text of a shortened result by thread and handle."""


class DelegationInput(BaseModel):
    """Arguments of a delegation tool."""

    request: str = Field(
        description=f"What the agent shall do, in full sentences with all names, numbers and limits. {HOW_TO_QUOTE}"
    )


class Delegation:
    """Makes and runs the delegation tools. A request's state comes with each call or stands in the table.

    `me` is the name and the address of the agent that delegates; `shares` is what each agent is told, nothing
    where it stands not in it; `takes` are the types of files that the model reads.
    """

    def __init__(
        self,
        registry: SubAgentRegistry,
        pool: ClientPool,
        contexts: RemoteContexts,
        delegations: DelegationStore,
        *,
        me: tuple[str, str],
        shares: Mapping[str, Shares],
        settings: SubAgentSettings,
        whole_text: WholeText,
        takes: Container[str],
    ) -> None:
        self._whole_text, self._takes = whole_text, takes
        self._scopes = DelegationScopes(registry, me=me, shares=shares, history_turns=settings.history_turns)
        self._registry = registry
        self._pool = pool
        self._contexts = contexts
        self._delegations = delegations
        self._settings = settings
        self._lines: dict[str, Bulkhead] = {}
        self._turns: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self._abandoned = Abandoned(delegations, self._cancel)

    async def stop(self) -> None:
        """End what works in the background."""
        await self._abandoned.stop()

    def tools(self) -> list[BaseTool]:
        """One tool for each sub-agent whose card is known."""
        return [self._tool(agent) for agent in self._registry.known]

    def came_up(self, name: str) -> None:
        """An agent that was down was seen to be up: the next call is let through."""
        if name in self._lines:
            self._lines[name].try_now()
        self._abandoned.came_up(name)

    async def waiting(self, parent_task_id: str) -> list[DelegationRecord]:
        """The delegations of a supervisor's task that wait for the user, oldest first."""
        kept = await self._delegations.of_task(parent_task_id)
        return [record for record in kept if record.state == WAITING and record.questions]

    async def until_reached(
        self, request: AgentRequest
    ) -> AsyncGenerator[DelegationProgress | InputRequired, None]:
        """Wait for the agents that wait for the user's answer while they restart; ask again where one does not come back."""
        waiting = await self.waiting(request.task_id)
        names = {record.agent for record in waiting}
        while missing := await self._registry.missing(names, _LOOK_SECONDS):
            record = next(each for each in waiting if each.agent == missing[0])
            left = min(self._registry.back_within(record.agent), Deadline(request.deadline).left)
            if left <= 0:
                log.info("delegation.not_back", agent=record.agent)
                yield _asked_again(record)
                return
            log.info("delegation.waits", agent=record.agent, reason=AWAY, seconds=round(left, 1))
            state = DelegationState.INPUT_REQUIRED
            yield DelegationProgress(record.call_id, record.agent, record.task_id, state, waiting=AWAY)
            await self._registry.until_up(record.agent, min(left, self._settings.progress_seconds))

    async def end(self, parent_task_id: str) -> None:
        """Cancel the open remote tasks of a supervisor's task that has ended, and forget them."""
        await self._abandoned.end(parent_task_id)

    async def used(self, parent_task_id: str) -> UsageReported:
        """Tokens that the remote tasks of a supervisor's task have reported so far."""
        by_agent: dict[str, Usage] = {}
        for record in await self._delegations.of_task(parent_task_id):
            counted = parse_usage(record.counted)
            for name, usage in (under_name(counted, record.agent).by_agent if counted else {}).items():
                by_agent[name] = by_agent.get(name, Usage()) + usage
        return UsageReported(by_agent)

    async def forget(self, thread_id: str) -> None:
        """Start a new context at every agent, and ask those that can to forget this conversation."""
        used = await self._contexts.clear(thread_id)
        await asyncio.gather(*(self._forget_at(name, context_id) for name, context_id in used.items()))

    async def _forget_at(self, name: str, context_id: str) -> None:
        card = next((agent.card for agent in self._registry.agents if agent.name == name), None)
        if card is None or CONTEXT_EXTENSION not in [each.uri for each in card.capabilities.extensions]:
            log.info("delegation.not_forgotten", agent=name)
            return
        with suppress(SubAgentUnavailable):  # its card names no address any more
            async with self._remote(name) as remote:
                await remote.forget(context_id)

    def _tool(self, agent: SubAgent) -> BaseTool:
        async def delegate(request: str, runtime: ToolRuntime[AgentRequest]) -> ToolMessage:
            return await self._delegate(agent.name, request, runtime)

        return StructuredTool.from_function(
            coroutine=delegate,
            name=agent.name,
            description=_description(agent),
            args_schema=DelegationInput,
            metadata={"examples": agent.examples, "summary": agent.summary, DELEGATION: True},
        )

    async def _delegate(self, name: str, text: str, runtime: ToolRuntime[AgentRequest]) -> ToolMessage:
        """Send the request, relay each question to the user, return the final artifact.

        The graph runs this again from its start after each question: what an earlier run sent is in
        the table of delegations, and the answers that it got come out of `interrupt` in the same order.
        """
        cause = tool_call_origin(
            runtime.context.task_id, runtime.state["messages"], str(runtime.tool_call_id)
        )
        kept = await self._delegations.get(cause.id)
        if kept is None and (why := self._scopes.circular(name, text, runtime)):
            return _not_made(name, text, why, cause, runtime)
        if kept is None:
            kept = await self._begin(name, await self._quoted(text, runtime), cause, runtime.context)
        replies: list[Reply] = []
        while True:
            for question in kept.questions[len(replies) :]:
                replies.append(Reply.of(interrupt(dict(question))))
            task, kept = await self._exchange(kept, replies, cause, runtime)
            if not task.waits:
                return ToolMessage(
                    content_for(task, self._takes, SUB_AGENT_NO_ANSWER.format(agent=name)),
                    tool_call_id=cause.call_id,
                    name=name,
                    additional_kwargs={
                        FINISHED_AT: time.time(),
                        **whole_answer(task, own=self._scopes.is_own(name), asked=bool(replies)),
                    },
                    artifact=data_of(task),
                )

    async def _quoted(self, text: str, runtime: ToolRuntime[AgentRequest]) -> str:
        """The request with the earlier results that it refers to; never empty, since no agent takes an empty message."""
        thread_id = runtime.context.thread_id
        outputs = runtime.state.get("node_outputs")
        return (
            await quoted(text, outputs, lambda handle: self._whole_text(thread_id, handle)) or NOTHING_QUOTED
        )

    async def _begin(
        self, name: str, text: str, cause: ToolCallOrigin, request: AgentRequest
    ) -> DelegationRecord:
        """A new delegation, in the conversation's own context at the agent unless a question is open there."""
        log.info("delegation.begun", agent=name, reference=reference_of(request.task_id))
        context_id = await self._contexts.get(request.thread_id, name)
        await self._contexts.put(request.thread_id, name, context_id)
        waiting = await self._delegations.waiting(request.thread_id)
        if any(record.agent == name and record.context_id == context_id for record in waiting):
            context_id = str(uuid5(_NAMESPACE, f"{context_id}/{cause.id}"))
        return DelegationRecord(
            id=cause.id,
            parent_task_id=request.task_id,
            thread_id=request.thread_id,
            agent=name,
            call_id=cause.call_id,
            step=cause.step,
            request=text,
            context_id=context_id,
        )

    async def _exchange(
        self,
        kept: DelegationRecord,
        replies: list[Reply],
        cause: ToolCallOrigin,
        runtime: ToolRuntime[AgentRequest],
    ) -> tuple[TaskView, DelegationRecord]:
        """Send the request, or the newest answer, and keep what came of it."""
        # One delegation at a time in a remote conversation: a second one would be refused or mixed up.
        lock = self._turns.setdefault((kept.thread_id, kept.context_id), asyncio.Lock())
        async with lock, self._remote(kept.agent) as remote:
            line = self._line(kept.agent)
            call = self._call(kept, replies, cause, runtime)
            kept = replace(kept, sent=len(replies) + 1, state=WORKING)
            await self._delegations.put(kept)

            async def named(task_id: str) -> None:
                nonlocal kept
                kept = replace(kept, task_id=task_id)
                await self._delegations.put(kept)

            try:
                async with line.slot(call.deadline):
                    task = await remote.run(call, self._watched(kept.agent, runtime.stream_writer), named)
            except DelegationFailed:
                await self._delegations.put(replace(kept, state=FAILED))
                raise
            used = usage_since(kept.counted, task.usage)
            kept = await self._keep(kept, task)
        for artifact in passed_files(task, kept.agent, kept.id):
            runtime.stream_writer(artifact)
        runtime.context.meter.add(sum(used.by_agent.values(), Usage()))
        if used.by_agent:
            runtime.stream_writer(under_name(used, kept.agent))
        return task, kept

    async def _keep(self, kept: DelegationRecord, task: TaskView) -> DelegationRecord:
        if task.context_id and task.context_id != kept.context_id:
            await self._contexts.put(kept.thread_id, kept.agent, task.context_id)
        questions = [*kept.questions, question_of(task, kept.agent)] if task.waits else kept.questions
        kept = replace(
            kept,
            task_id=task.task_id,
            context_id=task.context_id or kept.context_id,
            state=WAITING if task.waits else COMPLETED,
            questions=questions,
            counted=usage_payload(task.usage) if task.usage else kept.counted,
        )
        await self._delegations.put(kept)
        return kept

    def _line(self, name: str) -> Bulkhead:
        if name not in self._lines:
            self._lines[name] = Bulkhead(
                name, on_failure=self._registry.doubt, reachable=lambda: self._registry.get(name).reachable
            )
        return self._lines[name]

    def _watched(self, name: str, report: Report) -> Report:
        """A report that has the agent looked at often once it cannot be reached."""

        def watched(event: DelegationStarted | DelegationProgress | DelegationFinished) -> None:
            if isinstance(event, DelegationProgress) and event.waiting == AWAY:
                self._registry.doubt(name)
            report(event)

        return watched

    @asynccontextmanager
    async def _remote(self, name: str) -> AsyncIterator[RemoteAgent]:
        """The agent, by a client that stays open as long as it is held, whatever becomes of the agent's card."""
        card = self._registry.get(name).card
        if card is None:
            raise SubAgentUnavailable(SUB_AGENT_UNKNOWN.format(agent=name))
        async with self._pool.connection(name, card) as connection:
            yield RemoteAgent(name, connection, progress_seconds=self._settings.progress_seconds)

    async def _cancel(self, record: DelegationRecord) -> bool:
        """Cancel the task of what was sent last; whether its agent answered, or is configured no more."""
        if record.agent not in {agent.name for agent in self._registry.agents}:
            return True
        message_id = _message_id(record, max(0, record.sent - 1))
        with suppress(SubAgentUnavailable):  # its card is not known, or names no address any more
            async with self._remote(record.agent) as remote:
                log.info("delegation.given_up", agent=record.agent, task_id=record.parent_task_id)
                return await remote.cancel_by_message(message_id, record.context_id, record.task_id)
        return False

    def _call(
        self,
        kept: DelegationRecord,
        replies: list[Reply],
        cause: ToolCallOrigin,
        runtime: ToolRuntime[AgentRequest],
    ) -> RemoteCall:
        request = runtime.context
        seconds = min(self._settings.timeout_seconds, Deadline(request.deadline).left)
        number = len(replies)
        said: dict[str, Any] = {"text": replies[-1].text, "data": replies[-1].data} if replies else {}
        return RemoteCall(
            call_id=kept.call_id,
            message_id=_message_id(kept, number),
            context_id=kept.context_id,
            scope=self._scopes.scope(kept, cause, runtime, seconds),
            deadline=seconds,
            task_id=kept.task_id if number else "",
            maybe_sent=kept.sent > number,
            known_task=kept.task_id if not number and kept.sent else "",
            restart_seconds=min(seconds, self._registry.back_within(kept.agent)),
            **(said or {"text": kept.request}),
        )


def _asked_again(record: DelegationRecord) -> InputRequired:
    asked = record.questions[-1]
    sentence = SUB_AGENT_UNREACHABLE_FOR_ANSWER.format(agent=record.agent, question=asked["question"])
    return InputRequired(
        sentence, str(asked.get("origin", record.agent)), asked.get("form"), bool(asked.get("auth"))
    )


def _message_id(kept: DelegationRecord, number: int) -> str:
    """Id of a delegation's message: the request (0) or a reply, the same after any restart."""
    return str(uuid5(_NAMESPACE, f"{kept.id}/{number}")) if number else kept.id


def _not_made(
    name: str, text: str, why: str, cause: ToolCallOrigin, runtime: ToolRuntime[AgentRequest]
) -> ToolMessage:
    """The result of a delegation that would go round in circles: the model can work with it."""
    log.warning("delegation.loop_stopped", agent=name)
    runtime.stream_writer(DelegationStarted(cause.call_id, name, text))
    runtime.stream_writer(DelegationFinished(cause.call_id, name, "", DelegationState.REJECTED, 0.0))
    return ToolMessage(
        dump_result(ToolProblem(error=LOOP, message=why)),
        tool_call_id=cause.call_id,
        name=name,
        status="error",
        additional_kwargs={STOPPED_CALL: True},
    )


def _description(agent: SubAgent) -> str:
    """What a model reads of an agent. The agent's own words are quoted: they are data."""
    return f'Delegates to the agent "{agent.name}", which says of itself: "{agent.description}"'

"""Sub-agents as tools: one tool per agent, which sends a task over A2A and returns the final artifact."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Container
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import structlog
from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.types import interrupt
from pydantic import AfterValidator, BaseModel, Field

from multi_agents.platform_engineer import leaving
from multi_agents.platform_engineer.conversation_below import delete_below, forget_below
from multi_agents.platform_engineer.delegation_scope import DelegationScopes
from multi_agents.platform_engineer.delegation_words import (
    asked_again,
    description_of,
    not_made,
    question_again,
)
from multi_agents.platform_engineer.early_answers import WholeText, seen_before
from multi_agents.platform_engineer.node_outputs import HOW_TO_QUOTE, NOTHING_QUOTED, data_of, quoted
from multi_agents.platform_engineer.passed_answer import whole_answer
from multi_agents.platform_engineer.passed_files import content_for, passed_files, text_mark
from multi_agents.platform_engineer.remote_conversations import RemoteConversations
from multi_agents.platform_engineer.seen_files import SeenFiles
from multi_agents.platform_engineer.sub_usage import under_name, usage_since
from multi_agents.platform_engineer.tool_call_origin import ToolCallOrigin, tool_call_origin
from utils.a2a_common.client.agents.bulkhead import Bulkhead
from utils.a2a_common.client.agents.registry import SubAgent, SubAgentRegistry
from utils.a2a_common.client.delegation.progress import AWAY
from utils.a2a_common.client.delegation.remote_agents import RemoteAgents
from utils.a2a_common.client.stream.message import RemoteCall, message_id_of
from utils.a2a_common.client.stream.undelivered import not_delivered
from utils.a2a_common.client.transport.credentials import ActingFor, whom_for
from utils.a2a_common.client.transport.delegation_failures import AnswerUndelivered
from utils.a2a_common.client.transport.sentences import (
    SUB_AGENT_NO_ANSWER,
)
from utils.a2a_common.graph.questions.interrupts import Reply, question_of
from utils.a2a_common.graph.tools.boundary import DELEGATION
from utils.a2a_common.protocol.conversations import Kept
from utils.a2a_common.protocol.delegation_context import reference_of
from utils.a2a_common.protocol.extensions import parse_usage, usage_payload
from utils.a2a_common.protocol.request import AgentRequest
from utils.a2a_common.protocol.shares import Shares
from utils.auth.service_tokens import person_of
from utils.errors import DelegationFailed, SubAgentUnavailable
from utils.events import (
    DelegationProgress,
    DelegationState,
    InputRequired,
    Usage,
    UsageReported,
)
from utils.messages.marks import FINISHED_AT
from utils.messages.question import Question
from utils.messages.repeatable import READ_ONLY
from utils.persistence.contexts import Person
from utils.persistence.delegations import COMPLETED, FAILED, LEFT_OPEN, WAITING, WORKING, DelegationRecord
from utils.timing import Deadline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utils.a2a_common.client.delegation.task_view import TaskView
    from utils.persistence.stores import Contexts, Delegations
    from utils.settings import SubAgentSettings

log = structlog.get_logger(__name__)


def _not_blank(request: str) -> str:
    if not request.strip():
        raise ValueError("say what the agent shall do")
    return request


class DelegationInput(BaseModel):
    """Arguments of a delegation tool."""

    request: Annotated[str, AfterValidator(_not_blank)] = Field(
        description=f"What the agent shall do, in full sentences with all names, numbers and limits. {HOW_TO_QUOTE}"
    )


class Delegation:
    """Makes and runs the delegation tools. A request's state comes with each call or is in the table.

    `me` is the name and the address of the delegating agent; `shares` says what is shared with each agent (nothing with
    an agent that is missing), and `own` are our own agents; `files` gives the model the files that it can read; `key`
    makes the secrets of answers.
    """

    def __init__(
        self,
        registry: SubAgentRegistry,
        remotes: RemoteAgents,
        contexts: Contexts,
        delegations: Delegations,
        *,
        me: tuple[str, str],
        shares: Mapping[str, Shares],
        own: Container[str],
        settings: SubAgentSettings,
        whole_text: WholeText,
        files: SeenFiles,
        key: bytes,
    ) -> None:
        self._whole_text, self._files = whole_text, files
        turns = settings.history_turns
        self._scopes = DelegationScopes(registry, me=me, shares=shares, own=own, history_turns=turns, key=key)
        self._registry, self._remotes = registry, remotes
        self._contexts = contexts
        self._delegations = delegations
        self._settings = settings
        self._lines: dict[str, Bulkhead] = {}
        self._conversations = RemoteConversations(contexts, delegations)

    def tools(self) -> list[BaseTool]:
        """One tool for each sub-agent whose card is known."""
        return [self._tool(agent) for agent in self._registry.known]

    def came_up(self, name: str) -> None:
        """Record that an agent is up again: the next call is let through."""
        if name in self._lines:
            self._lines[name].try_now()

    async def waiting(self, parent_task_id: str) -> list[DelegationRecord]:
        """The delegations of a supervisor's task that wait for the user, oldest first."""
        kept = await self._delegations.of_task(parent_task_id)
        return [record for record in kept if record.state == WAITING and record.questions]

    async def until_reached(
        self, request: AgentRequest
    ) -> AsyncGenerator[DelegationProgress | InputRequired, None]:
        """Wait while agents restart that wait for the user's answer; ask again if one does not come back."""
        waiting = await self.waiting(request.task_id)
        names = {record.agent for record in waiting}
        while missing := await self._registry.missing(names):
            record = next(each for each in waiting if each.agent == missing[0])
            left = min(self._registry.back_within(record.agent), Deadline(request.deadline).left)
            if left <= 0:
                if await self._registry.is_back(record.agent):
                    continue
                log.info("delegation.not_back", agent=record.agent)
                yield asked_again(record)
                return
            log.info("delegation.waits", agent=record.agent, reason=AWAY, seconds=round(left, 1))
            state = DelegationState.INPUT_REQUIRED
            yield DelegationProgress(record.call_id, record.agent, record.task_id, state, waiting=AWAY)
            await self._registry.until_up(record.agent, min(left, self._settings.progress_seconds))

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
        whom = ActingFor(thread_id)
        await forget_below(used, self._registry, lambda name: self._remotes.reach(name, whom))

    async def delete(self, thread_id: str) -> list[Kept]:
        """Have a conversation deleted at every agent that took part in it; return those that still have data of it."""
        used = await self._contexts.used(thread_id)
        whom = ActingFor(thread_id)
        return await delete_below(
            used, self._registry, self._scopes.is_own, lambda name: self._remotes.reach(name, whom)
        )

    def _tool(self, agent: SubAgent) -> BaseTool:
        async def delegate(request: str, runtime: ToolRuntime[AgentRequest]) -> ToolMessage:
            return await self._delegate(agent.name, request, runtime)

        return StructuredTool.from_function(
            coroutine=delegate,
            name=agent.name,
            description=description_of(agent),
            args_schema=DelegationInput,
            metadata={
                "examples": agent.examples,
                "summary": agent.summary,
                DELEGATION: True,
                READ_ONLY: agent.only_reads,
            },
        )

    async def _delegate(self, name: str, text: str, runtime: ToolRuntime[AgentRequest]) -> ToolMessage:
        """Send the request, relay each question to the user, return the final artifact.

        The graph runs this again from its start after each question: the messages of an earlier run are in
        the table of delegations, and the answers that it got come out of `interrupt` in the same order.
        """
        messages = runtime.state["messages"]
        cause = tool_call_origin(runtime.context.task_id, messages, str(runtime.tool_call_id))
        kept = await self._delegations.get(cause.id)
        if kept is None and (why := self._scopes.circular(name, text, runtime)):
            return not_made(name, text, why, cause, runtime)
        request = kept.request if kept is not None else await self._quoted(text, runtime)
        if why := self._scopes.kept_back(name, request, cause, runtime):
            return not_made(name, text, why, cause, runtime, code=leaving.REFUSED)
        if kept is None:
            kept = await self._begin(name, request, cause, runtime.context)
        replies: list[Reply] = []
        seen: dict[str, list[str]] = {}
        while True:
            for question in kept.questions[len(replies) :]:
                replies.append(Reply.of(interrupt(dict(question))))
                seen = seen_before(kept, await self._delegations.of_task(kept.parent_task_id))
            task, kept = await self._exchange(kept, replies, cause, runtime)
            if task is not None and not task.waits:
                view, nothing = await self._files.view(task), SUB_AGENT_NO_ANSWER.format(agent=name)
                return ToolMessage(
                    content_for(view, self._files.takes, nothing),
                    tool_call_id=cause.call_id,
                    name=name,
                    additional_kwargs={
                        **FINISHED_AT.entry(time.time()),
                        **text_mark(task),
                        **seen,
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
        """A new delegation, in the conversation's own context at the agent."""
        log.info("delegation.begun", agent=name, reference=reference_of(request.task_id))
        person = Person(person_of(request.caller.name), request.caller.tenant)
        context_id = await self._contexts.use(request.thread_id, name, person)
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
    ) -> tuple[TaskView | None, DelegationRecord]:
        """Send the request, or the newest answer, and store the outcome.

        If the agent is away and has not received the answer, the delegation has not ended: there is no task then, and the question is asked again.
        """
        whom = whom_for(kept, len(replies))
        async with self._conversations.held(kept) as placed, self._remotes.reach(kept.agent, whom) as remote:
            call = self._call(placed, replies, cause, runtime)
            kept = replace(placed, sent=len(replies) + 1, state=WORKING)

            async def named(task_id: str) -> None:
                nonlocal kept
                kept = replace(kept, task_id=task_id)
                await self._delegations.put(kept)

            try:
                async with self._place(kept.agent, call):
                    await self._delegations.put(kept)
                    task = await remote.run(call, runtime.stream_writer, named)
            except AnswerUndelivered as failure:
                log.info("delegation.not_back", agent=kept.agent)
                again = question_again(kept, failure.message)
                kept = replace(kept, state=WAITING, questions=[*kept.questions, again])
                await self._delegations.put(kept)
                return None, kept
            except DelegationFailed as failure:
                ended = LEFT_OPEN if failure.left_open else FAILED
                await self._delegations.put(replace(kept, state=ended))
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
        own = self._scopes.is_own(kept.agent)
        questions = (
            [*kept.questions, question_of(task, kept.agent, own=own).value()]
            if task.waits
            else kept.questions
        )
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

    @asynccontextmanager
    async def _place(self, name: str, call: RemoteCall) -> AsyncIterator[None]:
        """A slot for a call at its agent; the call fails if the agent is down or has no free slot."""
        async with AsyncExitStack() as place:
            try:
                await place.enter_async_context(self._line(name).slot(call.deadline))
            except SubAgentUnavailable as failure:
                if not call.task_id:
                    raise
                only_reads = self._registry.get(name).only_reads
                raise not_delivered(name, call, failure, only_reads=only_reads) from failure
            yield

    def _line(self, name: str) -> Bulkhead:
        if name not in self._lines:
            self._lines[name] = Bulkhead(
                name, on_failure=self._registry.doubt, reachable=lambda: self._registry.get(name).reachable
            )
        return self._lines[name]

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
        answer: dict[str, Any] = {"text": replies[-1].text, "parts": replies[-1].parts} if replies else {}
        asked = Question.of(kept.questions[number - 1] if 0 < number <= len(kept.questions) else {})
        return RemoteCall(
            call_id=kept.call_id,
            message_id=message_id_of(kept, number),
            context_id=kept.context_id,
            scope=self._scopes.scope(kept, cause, runtime, seconds),
            deadline=seconds,
            task_id=kept.task_id if number else "",
            maybe_sent=kept.sent > number,
            known_task=kept.task_id if not number and kept.sent else "",
            restart_seconds=min(seconds, self._registry.back_within(kept.agent)),
            secret=self._scopes.secret(kept),
            question=asked.id,
            seen=asked.seen,
            **(answer or {"text": kept.request}),
        )

"""Runs one task: parses the request, publishes the agent's events, and ends in one final state."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import replace
from math import isinf
from typing import TYPE_CHECKING, NamedTuple, Protocol

from a2a.server.agent_execution import AgentExecutor
from a2a.types.a2a_pb2 import Artifact, Task, TaskState, TaskStatus

from utils.a2a_common.execution.event_sink import EventSink
from utils.a2a_common.execution.publisher import Publisher
from utils.a2a_common.execution.request_parser import agent_request, plan_artifact, task_tree
from utils.a2a_common.protocol.extensions import PLAN_EXTENSION
from utils.a2a_common.protocol.request import AgentRequest
from utils.a2a_common.protocol.trace_context import trace_of
from utils.a2a_common.tasks.endings import failure, failure_of
from utils.errors import DeadlineExceeded, NoAnswer
from utils.events import AgentEvent
from utils.observability.observed import observed_turn
from utils.resilience.timing import Deadline

if TYPE_CHECKING:
    from a2a.server.agent_execution import RequestContext
    from a2a.server.events import EventQueue


class _Run(NamedTuple):
    """A running turn, and an event that is set when its last A2A event was published."""

    work: asyncio.Task[None]
    ended: asyncio.Event


class StreamingAgent(Protocol):
    """What the executor needs of an agent."""

    @property
    def name(self) -> str:
        """Name of the agent."""

    def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        """Work on one request; the last event ends the turn."""

    async def cancel_children(self, task_id: str) -> None:
        """Cancel what waits at other agents for a task that is canceled while it waits for its user."""

    async def forget_calls(self, task_id: str) -> None:
        """Delete the record of the tool calls of a task that has ended, and whose turn can never be resumed."""


class BaseLangGraphAgentExecutor(AgentExecutor):
    """Runs an agent's turn as an A2A task.

    The only state is the table of runs by task id, which `cancel` needs to find the work that it stops.

    Args:
        agent: The agent.
        turn_seconds: Most seconds of one run of a turn; who asks may allow less.

    Attributes:
        resumable: A turn that was cut off goes on from its conversation's last checkpoint.
    """

    resumable = True

    def __init__(self, agent: StreamingAgent, *, turn_seconds: float | None = None) -> None:
        self._agent = agent
        self._turn_seconds = turn_seconds
        self._runs: dict[str, _Run] = {}

    @property
    def begins_with_task(self) -> bool:
        """Whether each turn has a task: an agent that may answer with a message decides later."""
        return not getattr(self._agent, "answers_with_message", False)

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Work on one message; returns when the task has ended or waits for the user."""
        request = self._timed(agent_request(context, self._agent.name))
        sink = EventSink(event_queue, request.task_id, request.context_id, request.accepted)
        sink.tree = task_tree(request, context)
        sink.plan_artifact = plan_artifact(context.current_task)
        known = context.current_task.artifacts if context.current_task is not None else ()
        if context.current_task is None:
            await self._submit(sink, _submitted(context, request))
        run = _Run(asyncio.create_task(self._run(request, sink, trace_of(context), known)), asyncio.Event())
        self._runs[request.task_id] = run
        try:
            await asyncio.wait([run.work])
            if run.work.cancelled():
                await sink.status(TaskState.TASK_STATE_CANCELED)
        finally:
            self._runs.pop(request.task_id, None)
            run.ended.set()
            run.work.cancel()
            await asyncio.gather(run.work, return_exceptions=True)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Stop the work of a task; when this returns, no model call of it will begin any more."""
        task_id = context.task_id or ""
        run = self._runs.get(task_id)
        if run is not None:
            run.work.cancel()
            await run.ended.wait()
        else:
            await self._agent.cancel_children(task_id)
            sink = EventSink(event_queue, task_id, context.context_id or "")
            sink.plan_artifact = plan_artifact(context.current_task)
            await sink.status(TaskState.TASK_STATE_CANCELED)

    async def abandon(self, task_id: str) -> None:
        """Cancel what waits at other agents for a task that ended without its run."""
        await self._agent.cancel_children(task_id)

    async def forget(self, task_id: str) -> None:
        """Delete what is stored for the resume of a task that has ended, and whose turn can never be resumed."""
        await self._agent.forget_calls(task_id)

    async def _submit(self, sink: EventSink, task: Task) -> None:
        """Publish the task; later, where the agent may answer with a message instead."""
        if self.begins_with_task:
            await sink.task(task)
        else:
            sink.task_later(task)

    async def _run(
        self, request: AgentRequest, sink: EventSink, trace: Mapping[str, str], known: Iterable[Artifact]
    ) -> None:
        name, ids = self._agent.name, {"task_id": request.task_id, "context_id": request.context_id}
        with observed_turn(name, trace, **ids) as meter:
            sink.trace_id = meter.trace_id

            def note(event: AgentEvent) -> None:
                meter.note(event)
                if sink.tree is not None:
                    sink.tree.note(event)

            publisher = Publisher(
                sink,
                agent=name,
                trace_id=meter.trace_id,
                note=note,
                accepted=request.accepted,
                known=known,
                plan_artifact=PLAN_EXTENSION in request.extensions,
            )
            await self._work(request, sink, publisher)

    async def _work(self, request: AgentRequest, sink: EventSink, publisher: Publisher) -> None:
        try:
            if self.begins_with_task:
                await sink.status(TaskState.TASK_STATE_WORKING)
            await self._follow(request, publisher)
            if not publisher.ended:
                await publisher.publish(failure(NoAnswer()))
        except asyncio.CancelledError:
            publisher.discard()
            raise
        except Exception as error:  # noqa: BLE001 - the executor boundary: every error ends the task
            await publisher.publish(failure_of(error))

    def _timed(self, request: AgentRequest) -> AgentRequest:
        """The request with the nearer of its own deadline and that of this agent."""
        ours = Deadline.after(self._turn_seconds)
        return replace(request, deadline=ours.at) if ours.left < Deadline(request.deadline).left else request

    async def _follow(self, request: AgentRequest, publisher: Publisher) -> None:
        """Publish the turn's events, within its time.

        Raises:
            DeadlineExceeded: The turn took too long.
        """
        left = Deadline(request.deadline).left
        allowed = asyncio.timeout(None if isinf(left) else left)
        try:
            async with allowed, aclosing(self._agent.stream(request)) as events:
                async for event in events:
                    await publisher.publish(event)
        except TimeoutError as error:
            if not allowed.expired():
                raise
            raise DeadlineExceeded(_TOO_LATE) from error


_TOO_LATE = "This took longer than it may. Nothing is lost: ask for a part of it, or try again."


def _submitted(context: RequestContext, request: AgentRequest) -> Task:
    status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
    status.timestamp.GetCurrentTime()
    history = [context.message] if context.message is not None else []
    return Task(id=request.task_id, context_id=request.context_id, status=status, history=history)

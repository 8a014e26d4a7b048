"""Runs one task: parses the request, publishes the agent's events, and ends in one final state."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from math import isinf
from typing import TYPE_CHECKING, NamedTuple, Protocol

from a2a.types.a2a_pb2 import Task, TaskState, TaskStatus

from utils.a2a_common.engine.turn_executor import TurnExecutor
from utils.a2a_common.execution.publisher import Publisher
from utils.a2a_common.execution.request_parser import agent_request, plan_artifact, task_tree
from utils.a2a_common.protocol.extensions import PLAN_EXTENSION
from utils.a2a_common.protocol.request import AgentRequest
from utils.a2a_common.protocol.trace_context import trace_of
from utils.a2a_common.tasks.begun_effects import cut_off
from utils.a2a_common.tasks.statuses import TOO_LATE, failure, failure_of
from utils.a2a_common.tasks.third_party_code import third_party_code
from utils.errors import DeadlineExceeded, NoAnswer
from utils.events import AgentEvent, Completed, Failed, InputRequired
from utils.observability.observed import observed_turn
from utils.timing import Deadline

if TYPE_CHECKING:
    from a2a.server.agent_execution import RequestContext
    from a2a.server.events import EventQueue


class _Run(NamedTuple):
    """A running turn, and an event that is set when its last A2A event was published."""

    work: asyncio.Task[None]
    ended: asyncio.Event


class StreamingAgent(Protocol):
    """The interface of an agent for the executor."""

    @property
    def name(self) -> str:
        """Name of the agent."""

    def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        """Work on one request; the last event ends the turn."""

    async def cancel_children(self, task_id: str) -> None:
        """Cancel the open tasks at other agents for a task that ends."""

    async def forget_calls(self, task_id: str) -> None:
        """Delete the record of the tool calls of a task that has ended, and whose turn can never be resumed."""


class BaseLangGraphAgentExecutor(TurnExecutor):
    """Runs an agent's turn as an A2A task.

    The only state is the table of runs by task id, which `cancel` needs to find the work that it stops.

    Args:
        agent: The agent.
        turn_seconds: Most seconds of one run of a turn; the caller may allow less.

    Attributes:
        resumable: A turn that was cut off continues from its conversation's last checkpoint.
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
        publisher = self._publisher(request, context, event_queue)
        if context.current_task is None:
            await publisher.task(_submitted(context, request), later=not self.begins_with_task)
        run = _Run(asyncio.create_task(self._run(request, publisher, context)), asyncio.Event())
        self._runs[request.task_id] = run
        try:
            await asyncio.wait([run.work])
            if run.work.cancelled():
                await publisher.canceled(cut_off())
        finally:
            self._runs.pop(request.task_id, None)
            run.ended.set()
            run.work.cancel()
            await asyncio.gather(run.work, return_exceptions=True)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Stop the work of a task; after this returns, no further model call begins."""
        task_id = context.task_id or ""
        run = self._runs.get(task_id)
        if run is not None:
            run.work.cancel()
            await run.ended.wait()
        else:
            await self._agent.cancel_children(task_id)
            await self._agent.forget_calls(task_id)
            shown = plan_artifact(context.current_task)
            await Publisher(
                event_queue, task_id, context.context_id or "", agent=self._agent.name, shown_plan=shown
            ).canceled()

    async def abandon(self, task_id: str) -> None:
        """Cancel what waits at other agents for a task that ends without a run; nothing of it will be resumed."""
        await self._agent.cancel_children(task_id)
        await self._agent.forget_calls(task_id)

    async def forget(self, task_id: str) -> None:
        """Delete what is stored for the resume of a task that has ended, and whose turn can never be resumed."""
        await self._agent.forget_calls(task_id)

    def _publisher(self, request: AgentRequest, context: RequestContext, queue: EventQueue) -> Publisher:
        task = context.current_task
        return Publisher(
            queue,
            request.task_id,
            request.context_id,
            agent=self._agent.name,
            accepted=request.accepted,
            known=task.artifacts if task is not None else (),
            plan_artifact=PLAN_EXTENSION in request.extensions,
            shown_plan=plan_artifact(task),
            tree=task_tree(request, context),
        )

    async def _run(self, request: AgentRequest, publisher: Publisher, context: RequestContext) -> None:
        ids = {"task_id": request.task_id, "context_id": request.context_id}
        with observed_turn(self._agent.name, trace_of(context), **ids) as meter:
            publisher.trace_id, publisher.note = meter.trace_id, meter.note
            await self._work(request, publisher)

    async def _work(self, request: AgentRequest, publisher: Publisher) -> None:
        try:
            if self.begins_with_task:
                await publisher.working()
            with third_party_code():
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

        Open tasks at other agents end before the end of this task is published. A turn that waits for its user, or continues
        in another process, leaves them open.

        Raises:
            DeadlineExceeded: The turn took too long.
        """
        left, children = Deadline(request.deadline).left, True
        allowed = asyncio.timeout(None if isinf(left) else left)
        try:
            async with allowed, aclosing(self._agent.stream(request)) as events:
                async for event in events:
                    if isinstance(event, Completed | Failed):
                        await self._agent.cancel_children(request.task_id)
                    children = not isinstance(event, InputRequired | Completed | Failed)
                    await publisher.publish(event)
        except TimeoutError as error:
            if not allowed.expired():
                raise
            raise DeadlineExceeded(_TOO_LATE) from error
        finally:
            if children and not request.suspended.is_set():
                await self._agent.cancel_children(request.task_id)


_TOO_LATE = f"{TOO_LATE} Nothing is lost: ask for a part of it, or try again."


def _submitted(context: RequestContext, request: AgentRequest) -> Task:
    status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
    history = [context.message] if context.message is not None else []
    return Task(id=request.task_id, context_id=request.context_id, status=status, history=history)

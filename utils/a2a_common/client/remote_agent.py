"""A remote A2A agent: one request sent, its progress followed, its final artifact returned."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx
import structlog
from a2a.client.errors import A2AClientError
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskState,
)
from a2a.utils.errors import A2AError, UnsupportedOperationError
from google.protobuf import json_format, struct_pb2

from utils.a2a_common.client.heartbeat import Report, heartbeat
from utils.a2a_common.client.peer_limits import MOST_EVENTS, PeerLimits
from utils.a2a_common.client.peer_text import cleaned, one_line, with_words
from utils.a2a_common.client.progress_gate import ProgressGate
from utils.a2a_common.client.remote_errors import failure_of
from utils.a2a_common.client.remote_task import RemoteTask
from utils.a2a_common.protocol.delegation_context import DelegationContext
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION, CONTEXT_EXTENSION
from utils.a2a_common.protocol.json_values import complaint_about
from utils.a2a_common.protocol.task_tree import clean_children
from utils.errors import (
    SUB_AGENT_ANSWER_WRONG,
    SUB_AGENT_ENDED,
    SUB_AGENT_FAILED,
    SUB_AGENT_LATE,
    SUB_AGENT_STOPPED,
    DelegationFailed,
    PeerLimitExceeded,
    ProtocolViolation,
    SubAgentUnavailable,
)
from utils.events import DelegationFinished, DelegationProgress, DelegationStarted, DelegationState, Usage
from utils.resilience.retry import backoff

if TYPE_CHECKING:
    from a2a.client import Client
    from a2a.types.a2a_pb2 import StreamResponse

log = structlog.get_logger(__name__)

_RECONNECTS = 3
_CANCEL_SECONDS = 5.0
_SENDS = 3
_IN_VAIN = (httpx.HTTPError, A2AError, OSError, TimeoutError, PeerLimitExceeded)
"""What may come of asking an agent for something that is not needed."""

_FORGET = "Forget everything."
_FIRST_WAIT = 0.3
_LONGEST_CODE = 64

PROGRESS_SECONDS = 10.0
"""Silence of a remote agent after which its caller says that it still waits."""
_ASK_SECONDS = 1.0
"""Between two looks at a task whose stream cannot be taken up again."""


@dataclass(frozen=True, slots=True)
class RemoteCall:
    """One message to a remote agent: a request, or the user's answer to its question.

    Attributes:
        call_id: The tool call that caused it.
        text: The request or the answer in words.
        message_id: Deterministic, so that the same call is never a second message.
        context_id: The remote conversation.
        scope: What the remote agent is told besides; `None` for one that would not take it.
        deadline: Seconds to wait for the end.
        task_id: The remote task that an answer is for; empty for a request.
        data: Structured parts of an answer.
        maybe_sent: Whether an earlier run may have sent it: then it is looked for first.
    """

    call_id: str
    text: str
    message_id: str
    context_id: str
    scope: DelegationContext | None
    deadline: float
    task_id: str = ""
    data: Sequence[Mapping[str, Any]] = ()
    maybe_sent: bool = False


class RemoteAgent:
    """Runs errands at one remote agent.

    Args:
        name: Our name for it.
        client: Reaches it.
        progress_seconds: Silence after which a sign of life is reported in its place.
        ours: Whether its card says that it is an agent of our kind.
    """

    def __init__(
        self, name: str, client: Client, *, progress_seconds: float = PROGRESS_SECONDS, ours: bool = False
    ) -> None:
        self._name = name
        self._client = client
        self._progress_seconds = progress_seconds
        self._ours = ours

    async def run(self, call: RemoteCall, report: Report) -> RemoteTask:
        """Send the message and wait for the end of the task, or for its question.

        Returns:
            The task in state completed, input-required or auth-required.

        Raises:
            SubAgentUnavailable: The agent cannot be reached.
            SubAgentRefused: The agent does not accept the message.
            DelegationFailed: The task failed, was rejected or canceled, or the deadline passed.
        """
        report(DelegationStarted(call.call_id, self._name, call.text))
        started, task, finished = time.monotonic(), RemoteTask(call.task_id, ours=self._ours), False

        def waited(seconds: float) -> DelegationProgress:
            return replace(_progress(call, self._name, task, None), seconds=round(seconds, 1))

        try:
            async with (
                asyncio.timeout(call.deadline),
                heartbeat(report, waited, self._progress_seconds) as noted,
            ):
                shown = ProgressGate(noted)
                await self._follow(call, task, shown)
            finished = True
        except TimeoutError as error:
            text = SUB_AGENT_LATE.format(agent=self._name, seconds=call.deadline)
            raise DelegationFailed(text, code="deadline_exceeded", retryable=True) from error
        except (httpx.HTTPError, A2AError, OSError) as error:
            failure = failure_of(self._name, error)
            if isinstance(failure, SubAgentUnavailable):
                log.warning("delegation.unreachable", agent=self._name, exc_info=error)
            else:
                log.warning("delegation.refused", agent=self._name, reason=type(error).__name__)
            raise failure from error
        finally:
            if not finished:
                await self._cancel_unfinished(call, task)
            state = DelegationState.FAILED if not finished and task.open else task.state
            seconds = time.monotonic() - started
            end = (call.call_id, self._name, task.task_id, state, seconds)
            report(DelegationFinished(*end, below=_below(task)))
        return self._checked(task)

    async def cancel(self, task_id: str) -> None:
        """Cancel a remote task that nobody waits for any more. Best effort: failing is logged."""
        try:
            async with asyncio.timeout(_CANCEL_SECONDS):
                await self._client.cancel_task(CancelTaskRequest(id=task_id))
        except _IN_VAIN as error:
            log.warning("delegation.cancel_failed", agent=self._name, reason=type(error).__name__)

    async def cancel_by_message(self, message_id: str, context_id: str, task_id: str = "") -> None:
        """Cancel the task that a message began or answered, where it has not ended. Best effort.

        Args:
            message_id: The message; its task is looked for by it.
            context_id: The conversation that it was sent in.
            task_id: The task, where it is known.
        """
        sent, task = RemoteCall("", "", message_id, context_id, None, 0.0, task_id), RemoteTask(task_id)
        if not task_id:
            with contextlib.suppress(*_IN_VAIN):
                async with asyncio.timeout(_CANCEL_SECONDS):
                    await self._arrived(sent, task, artifacts=False)
        if task.task_id and (task.open or task.waits):
            await self.cancel(task.task_id)

    async def forget(self, context_id: str) -> None:
        """Ask an agent of our kind to forget a conversation. Best effort: failing is logged."""
        message = Message(message_id=str(uuid4()), context_id=context_id, role=Role.ROLE_USER)
        message.parts.extend([Part(text=_FORGET), _data_part({CONTEXT_EXTENSION: {"clear": True}})])
        try:
            async with asyncio.timeout(_CANCEL_SECONDS):
                async for _ in self._client.send_message(SendMessageRequest(message=message)):
                    pass
        except _IN_VAIN as error:
            log.warning("delegation.forget_failed", agent=self._name, reason=type(error).__name__)

    async def _follow(self, call: RemoteCall, task: RemoteTask, report: Report) -> None:
        """Follow the task to its end; a stream that breaks off is taken up again, never sent again."""
        if not (call.maybe_sent and await self._arrived(call, task)):
            await self._send(call, task, report)
        for attempt in range(1, _RECONNECTS + 1):
            if not task.open or not task.task_id:
                break
            log.info("delegation.reconnect", agent=self._name, remote_task_id=task.task_id)
            await self._catch_up(call, task, report, last=attempt == _RECONNECTS)
        if task.open:
            raise DelegationFailed(SUB_AGENT_STOPPED.format(agent=self._name), retryable=True)

    async def _send(self, call: RemoteCall, task: RemoteTask, report: Report) -> None:
        """Send the message. Where it is unknown whether it arrived, it is looked for before it is sent again."""
        for attempt in range(1, _SENDS + 1):
            try:
                await self._consume(self._client.send_message(_request(call)), call, task, report)
            except (httpx.HTTPError, A2AClientError):
                if attempt == _SENDS and not task.heard:
                    raise
            else:
                return
            if task.heard:
                return
            await asyncio.sleep(backoff(attempt, first=_FIRST_WAIT))
            with contextlib.suppress(httpx.HTTPError, A2AClientError):
                if await self._arrived(call, task):
                    return

    async def _arrived(self, call: RemoteCall, task: RemoteTask, *, artifacts: bool = True) -> bool:
        """Whether the agent has the message; if so, `task` is brought up to date, but for artifacts not asked for."""
        for found in await self._candidates(call, artifacts=artifacts):
            if any(message.message_id == call.message_id for message in found.history):
                self._take(task, found)
                return True
        return False

    async def _candidates(self, call: RemoteCall, *, artifacts: bool) -> Sequence[Task]:
        if call.task_id:
            return [await self._client.get_task(GetTaskRequest(id=call.task_id))]
        try:
            listed = ListTasksRequest(context_id=call.context_id, include_artifacts=artifacts)
            return list((await self._client.list_tasks(listed)).tasks)
        except A2AError:
            return []  # an agent that lists no tasks must know a repeated message by its id

    async def _catch_up(self, call: RemoteCall, task: RemoteTask, report: Report, *, last: bool) -> None:
        try:
            self._take(task, await self._client.get_task(GetTaskRequest(id=task.task_id)))
            if task.open:
                await self._rejoin(call, task, report)
        except (httpx.HTTPError, A2AClientError):
            if last:
                raise
            await asyncio.sleep(_FIRST_WAIT)

    async def _rejoin(self, call: RemoteCall, task: RemoteTask, report: Report) -> None:
        """Follow an open task again. An agent that refuses that, as for a task that ended just now, is asked for it."""
        try:
            stream = self._client.subscribe(SubscribeToTaskRequest(id=task.task_id))
            await self._consume(stream, call, task, report)
        except UnsupportedOperationError:
            self._take(task, await self._client.get_task(GetTaskRequest(id=task.task_id)))
            while task.open:
                await asyncio.sleep(_ASK_SECONDS)
                self._take(task, await self._client.get_task(GetTaskRequest(id=task.task_id)))

    async def _consume(
        self, stream: AsyncIterator[StreamResponse], call: RemoteCall, task: RemoteTask, report: Report
    ) -> None:
        async for response in stream:
            if call.task_id and not task.heard and response.HasField("task") and _waits(response.task):
                continue  # the task as it stood before the answer
            self._check(response)
            before = task.state
            metadata = task.apply(response)
            if task.events > MOST_EVENTS:
                raise PeerLimits(self._name).exceeded(f"more than {MOST_EVENTS:,} events")
            activity = metadata.get(ACTIVITY_EXTENSION)
            if isinstance(activity, Mapping) or (task.state is not before and task.open):
                report(_progress(call, self._name, task, activity))

    def _take(self, task: RemoteTask, found: Task) -> None:
        self._check(found)
        task.apply_task(found)

    def _check(self, sent: Task | StreamResponse) -> None:
        """Refuse values that could be neither stored nor shown to the user."""
        if complaint := complaint_about(sent):
            raise DelegationFailed(
                SUB_AGENT_ANSWER_WRONG.format(agent=self._name, complaint=complaint),
                code=ProtocolViolation.code,
            )

    async def _cancel_unfinished(self, call: RemoteCall, task: RemoteTask) -> None:
        """The remote task must not go on for nobody, also where its id was never heard."""
        if not task.task_id:
            with contextlib.suppress(*_IN_VAIN):
                async with asyncio.timeout(_CANCEL_SECONDS):
                    await self._arrived(call, task, artifacts=False)
        if task.task_id and task.open:
            await self.cancel(task.task_id)

    def _checked(self, task: RemoteTask) -> RemoteTask:
        match task.state:
            case DelegationState.COMPLETED | DelegationState.INPUT_REQUIRED | DelegationState.AUTH_REQUIRED:
                return task
            case DelegationState.FAILED:
                message = cleaned(str(task.error.get("message") or task.said or ""))
                raise DelegationFailed(
                    message or SUB_AGENT_FAILED.format(agent=self._name),
                    code=one_line(str(task.error.get("code") or ""), _LONGEST_CODE) or None,
                    retryable=bool(task.error.get("retryable", False)),
                )
            case _:
                ended = SUB_AGENT_ENDED.format(agent=self._name, state=task.state.value)
                raise DelegationFailed(with_words(ended, task.said))


def _progress(call: RemoteCall, agent: str, task: RemoteTask, activity: Any) -> DelegationProgress:
    return DelegationProgress(
        call_id=call.call_id,
        agent=agent,
        remote_task_id=task.task_id,
        state=task.state,
        activity=activity if isinstance(activity, Mapping) else None,
    )


def _below(task: RemoteTask) -> dict[str, Any] | None:
    """What a task told of tokens and sub-tasks, for the tree of the one that caused it."""
    below: dict[str, Any] = {}
    if task.usage is not None:
        below["tokens"] = asdict(sum(task.usage.by_agent.values(), Usage()))
    if children := clean_children(task.tree.get("children")):
        below["children"] = children
    return below or None


def _waits(task: Task) -> bool:
    return task.status.state in (TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED)


def _request(call: RemoteCall) -> SendMessageRequest:
    texts = [Part(text=call.text)] if call.text else []
    told = [call.scope.to_payload()] if call.scope else []
    message = Message(
        message_id=call.message_id,
        context_id=call.context_id,
        task_id=call.task_id,
        role=Role.ROLE_USER,
        parts=[*texts, *(_data_part(value) for value in (*call.data, *told))],
    )
    return SendMessageRequest(message=message)


def _data_part(value: Mapping[str, Any]) -> Part:
    data = json_format.ParseDict(dict(value), struct_pb2.Value())
    return Part(data=data, media_type="application/json")

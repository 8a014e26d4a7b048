"""A remote A2A agent: one request sent, its progress followed, its final artifact returned."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import structlog
from a2a.client.errors import A2AClientError
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
)
from a2a.utils.errors import A2AError
from google.protobuf import json_format, struct_pb2

from utils.a2a_common.activity import ACTIVITY_EXTENSION
from utils.a2a_common.delegation_scope import DelegationScope
from utils.a2a_common.remote_task import RemoteTask
from utils.errors import DelegationFailed, SubAgentUnavailable
from utils.events import DelegationFinished, DelegationProgress, DelegationStarted, DelegationState

if TYPE_CHECKING:
    from a2a.client import Client
    from a2a.types.a2a_pb2 import StreamResponse

log = structlog.get_logger(__name__)

Report = Callable[[DelegationStarted | DelegationProgress | DelegationFinished], None]

_RECONNECTS = 3
_CANCEL_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Errand:
    """One request to a remote agent.

    Attributes:
        call_id: The tool call that caused it.
        text: The request in words.
        message_id: Deterministic, so that the same errand is never a second message.
        context_id: The remote conversation.
        scope: What the remote agent is told besides.
        deadline: Seconds to wait for the end.
    """

    call_id: str
    text: str
    message_id: str
    context_id: str
    scope: DelegationScope
    deadline: float


class RemoteAgent:
    """Runs errands at one remote agent."""

    def __init__(self, name: str, client: Client) -> None:
        self._name = name
        self._client = client

    async def run(self, errand: Errand, report: Report) -> RemoteTask:
        """Send the request and wait for its end.

        Returns:
            The task in state completed, input-required or auth-required.

        Raises:
            SubAgentUnavailable: The agent cannot be reached.
            DelegationFailed: The task failed, was rejected or canceled, or the deadline passed.
        """
        report(DelegationStarted(errand.call_id, self._name, errand.text))
        started, task, finished = time.monotonic(), RemoteTask(), False
        try:
            async with asyncio.timeout(errand.deadline):
                await self._follow(errand, task, report)
            finished = True
        except TimeoutError as error:
            text = f"The {self._name} agent did not finish within {errand.deadline:.0f} seconds."
            raise DelegationFailed(text, code="deadline_exceeded", retryable=True) from error
        except (httpx.HTTPError, A2AError, OSError) as error:
            log.warning("delegation.unreachable", agent=self._name, exc_info=error)
            raise SubAgentUnavailable(f"The {self._name} agent cannot be reached right now.") from error
        finally:
            if not finished and task.task_id and task.open:
                await self._cancel(task)
            state = DelegationState.FAILED if not finished and task.open else task.state
            seconds = time.monotonic() - started
            report(DelegationFinished(errand.call_id, self._name, task.task_id, state, seconds))
        return self._checked(task)

    async def _follow(self, errand: Errand, task: RemoteTask, report: Report) -> None:
        """Follow the task to its end; a stream that breaks off is taken up again, never sent again."""
        try:
            await self._consume(self._client.send_message(_request(errand)), errand, task, report)
        except (httpx.HTTPError, A2AClientError):
            if not task.task_id:
                raise
        for _ in range(_RECONNECTS):
            if not task.open or not task.task_id:
                break
            log.info("delegation.reconnect", agent=self._name, remote_task_id=task.task_id)
            await self._catch_up(errand, task, report)
        if task.open:
            raise DelegationFailed(f"The {self._name} agent stopped answering.", retryable=True)

    async def _catch_up(self, errand: Errand, task: RemoteTask, report: Report) -> None:
        task.apply_task(await self._client.get_task(GetTaskRequest(id=task.task_id)))
        if task.open:
            stream = self._client.subscribe(SubscribeToTaskRequest(id=task.task_id))
            await self._consume(stream, errand, task, report)

    async def _consume(
        self, stream: AsyncIterator[StreamResponse], errand: Errand, task: RemoteTask, report: Report
    ) -> None:
        async for response in stream:
            before = task.state
            metadata = task.apply(response)
            activity = metadata.get(ACTIVITY_EXTENSION)
            if isinstance(activity, Mapping) or (task.state is not before and task.open):
                report(_progress(errand, self._name, task, activity))

    async def _cancel(self, task: RemoteTask) -> None:
        """Best effort: the remote task must not go on for nobody."""
        try:
            async with asyncio.timeout(_CANCEL_SECONDS):
                await self._client.cancel_task(CancelTaskRequest(id=task.task_id))
        except (httpx.HTTPError, A2AError, OSError, TimeoutError) as error:
            log.warning("delegation.cancel_failed", agent=self._name, exc_info=error)

    def _checked(self, task: RemoteTask) -> RemoteTask:
        match task.state:
            case DelegationState.COMPLETED | DelegationState.INPUT_REQUIRED | DelegationState.AUTH_REQUIRED:
                return task
            case DelegationState.FAILED:
                message = str(task.error.get("message") or task.said or "")
                raise DelegationFailed(
                    message or f"The {self._name} agent failed.",
                    code=str(task.error.get("code") or "") or None,
                    retryable=bool(task.error.get("retryable", False)),
                )
            case _:
                raise DelegationFailed(f"The {self._name} agent ended the task as {task.state.value}.")


def _progress(errand: Errand, agent: str, task: RemoteTask, activity: Any) -> DelegationProgress:
    return DelegationProgress(
        call_id=errand.call_id,
        agent=agent,
        remote_task_id=task.task_id,
        state=task.state,
        activity=activity if isinstance(activity, Mapping) else None,
    )


def _request(errand: Errand) -> SendMessageRequest:
    scope = json_format.ParseDict(errand.scope.to_payload(), struct_pb2.Value())
    message = Message(
        message_id=errand.message_id,
        context_id=errand.context_id,
        role=Role.ROLE_USER,
        parts=[Part(text=errand.text), Part(data=scope, media_type="application/json")],
    )
    return SendMessageRequest(message=message)

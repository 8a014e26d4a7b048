"""A remote A2A agent: one request sent, its progress reported, its task returned."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import structlog
from a2a.utils.errors import TaskNotFoundError

from utils.a2a_common.client.conversations import ask_conversations
from utils.a2a_common.client.events import ActivityReported, AgentAway, PeerEvent, TaskSnapshot
from utils.a2a_common.client.follow import Patience, find_task, follow_message
from utils.a2a_common.client.message import user_message
from utils.a2a_common.client.peer_errors import PeerError, RequestRefused, failure_of
from utils.a2a_common.client.peer_text import cleaned, one_line, with_words
from utils.a2a_common.client.progress import ProgressGate, Report, heartbeat
from utils.a2a_common.client.sentences import SUB_AGENT_ENDED, SUB_AGENT_FAILED, SUB_AGENT_LATE
from utils.a2a_common.client.task_view import TaskView
from utils.a2a_common.protocol.conversations import Action, Asked, Kept, parse_kept
from utils.a2a_common.protocol.delegation_context import DelegationContext
from utils.a2a_common.protocol.extensions import TaskError, activity_payload, clear_payload
from utils.a2a_common.protocol.shown_result import shown_result
from utils.errors import (
    DelegationFailed,
    OutcomeUnknown,
    PeerLimitExceeded,
    ProtocolViolation,
    SubAgentUnavailable,
)
from utils.events import (
    DelegationFinished,
    DelegationProgress,
    DelegationStarted,
    DelegationState,
    Usage,
)

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Message

    from utils.a2a_common.client.connection import Connection

log = structlog.get_logger(__name__)

_CANCEL_SECONDS = 5.0
_BEST_EFFORT = (PeerError, PeerLimitExceeded, ProtocolViolation, TimeoutError)
"""What may come of asking an agent for something that is not needed."""

_DELETE_SECONDS = 30.0
_FORGET = "Forget everything."
_LONGEST_CODE = 64

_PATIENCE = Patience(quiet_seconds=math.inf, busy_seconds=math.inf)
"""A delegation has a deadline of its own, and an agent may work for long without a word."""

AWAY, BUSY = "away", "busy"
"""Why nothing is to be heard of an agent: it cannot be reached, or takes no request now."""

PROGRESS_SECONDS = 10.0
"""Silence of a remote agent after which its caller says that it still waits."""


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
        known_task: The remote task that the message is known to have begun; empty where it is not known.
        secret: Shows that the answers of a delegation come from its sender.
        restart_seconds: How long the message is sent again while the agent cannot be reached, as while it restarts.
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
    known_task: str = ""
    restart_seconds: float = 0.0
    secret: str = ""


OnTask = Callable[[str], Awaitable[None]]


async def _nobody_asks(_task_id: str) -> None:
    """Do not keep the id of the remote task."""


class RemoteAgent:
    """Makes calls to one remote agent.

    Args:
        name: Our name for it.
        connection: Reaches it.
        progress_seconds: Silence after which progress is reported in its place.
        on_away: Called when it cannot be reached while it is waited for.
    """

    def __init__(
        self,
        name: str,
        connection: Connection,
        *,
        progress_seconds: float = PROGRESS_SECONDS,
        on_away: Callable[[], None] = lambda: None,
    ) -> None:
        self._name = name
        self._connection = connection
        self._progress_seconds = progress_seconds
        self._on_away = on_away

    async def run(self, call: RemoteCall, report: Report, named: OnTask = _nobody_asks) -> TaskView:
        """Send the message and wait for the end of the task, or for its question.

        Args:
            call: The message.
            report: Called with progress.
            named: Is told the id of the remote task as soon as it is known.

        Returns:
            The task in state completed, input-required or auth-required.

        Raises:
            SubAgentUnavailable: The agent cannot be reached.
            SubAgentRefused: The agent does not accept the message.
            DelegationFailed: The task failed, was rejected or canceled, or the deadline passed.
        """
        report(DelegationStarted(call.call_id, self._name, call.text))
        started, finished, stopped = time.monotonic(), False, False
        task = TaskView(call.task_id)

        def waited(seconds: float) -> DelegationProgress:
            return replace(_progress(call, self._name, task), seconds=round(seconds, 1))

        try:
            async with (
                asyncio.timeout(call.deadline),
                heartbeat(report, waited, self._progress_seconds) as noted,
            ):
                shown = ProgressGate(noted)
                await self._follow(call, task, shown, named)
            finished = True
        except asyncio.CancelledError:  # whether the remote task shall end too depends on why the turn stops
            stopped = True
            raise
        except TimeoutError as error:
            text = SUB_AGENT_LATE.format(agent=self._name, seconds=call.deadline)
            raise DelegationFailed(text, code="deadline_exceeded", retryable=True) from error
        except (PeerError, ProtocolViolation) as error:
            raise self._failure(error) from error
        finally:
            if not finished and not stopped:
                await self._cancel_unfinished(call, task)
            state = DelegationState.FAILED if not finished and task.open else task.state
            seconds = _worked(call, task, time.monotonic() - started)
            end = (call.call_id, self._name, task.task_id, state, seconds)
            report(DelegationFinished(*end, below=_below(task), result=shown_result(task.text())))
        return self._checked(task)

    async def cancel(self, task_id: str) -> bool:
        """Cancel a remote task that nobody waits for any more; whether the agent answered. Failing is logged."""
        try:
            async with asyncio.timeout(_CANCEL_SECONDS):
                await self._connection.cancel(task_id)
        except _BEST_EFFORT as error:
            log.warning("delegation.cancel_failed", agent=self._name, reason=type(error).__name__)
            return isinstance(error, RequestRefused)
        return True

    async def cancel_by_message(self, message_id: str, context_id: str, task_id: str = "") -> bool:
        """Cancel the task that a message began or answered, where it has not ended. Failing is logged.

        Args:
            message_id: The message; its task is looked for by it.
            context_id: The conversation that it was sent in.
            task_id: The task, where it is known.

        Returns:
            Whether the agent answered, so that nothing of it goes on there.
        """
        task = TaskView(task_id)
        if not task_id:
            message = user_message("", context_id=context_id, message_id=message_id)
            if not await self._find(message, task):
                return False
        return await self.cancel(task.task_id) if task.task_id and (task.open or task.waits) else True

    async def forget(self, context_id: str) -> None:
        """Ask an agent of our kind to forget a conversation. Best effort: failing is logged."""
        message = user_message(_FORGET, context_id=context_id, data=[clear_payload()])
        try:
            async with asyncio.timeout(_CANCEL_SECONDS), aclosing(self._connection.send(message)) as stream:
                async for _ in stream:
                    pass
        except _BEST_EFFORT as error:
            log.warning("delegation.forget_failed", agent=self._name, reason=type(error).__name__)

    async def delete_conversation(self, context_id: str) -> Sequence[Kept] | None:
        """Have a conversation deleted at an agent of our kind.

        Returns:
            The agents behind it that still have something of it; `None` where it did not say that it is deleted.
        """
        try:
            async with asyncio.timeout(_DELETE_SECONDS):
                answer = await ask_conversations(self._connection, Asked(Action.DELETE, context_id))
        except _BEST_EFFORT as error:
            if isinstance(error.__cause__, TaskNotFoundError):
                return ()
            log.warning("delegation.not_deleted", agent=self._name, reason=type(error).__name__)
            return None
        return parse_kept(answer.get("kept")) if answer and answer.get("deleted") is True else None

    async def _follow(self, call: RemoteCall, task: TaskView, report: Report, named: OnTask) -> None:
        known = call.task_id
        events = follow_message(
            self._connection,
            self._message(call),
            maybe_sent=call.maybe_sent,
            known_task=call.known_task,
            patience=replace(_PATIENCE, restart_seconds=call.restart_seconds),
        )
        async with aclosing(events):
            async for event in events:
                if isinstance(event, TaskSnapshot) and task.heard:
                    log.info("delegation.reconnect", agent=self._name, remote_task_id=task.task_id)
                before = task.state
                task.apply(event)
                if isinstance(event, AgentAway):
                    waiting = BUSY if event.busy else AWAY
                    log.info(
                        "delegation.waits", agent=self._name, reason=waiting, seconds=round(event.seconds, 1)
                    )
                    if not event.busy:
                        self._on_away()
                    report(replace(_progress(call, self._name, task), waiting=waiting))
                if task.task_id and task.task_id != known:
                    known = task.task_id
                    await named(known)
                if isinstance(event, ActivityReported) or (task.state is not before and task.open):
                    report(_progress(call, self._name, task, event))

    async def _find(self, message: Message, task: TaskView) -> bool:
        """Bring `task` up to date where the agent has the message; whether the agent answered."""
        with contextlib.suppress(*_BEST_EFFORT):
            async with asyncio.timeout(_CANCEL_SECONDS):
                for event in await find_task(self._connection, message):
                    task.apply(event)
                return True
        return False

    async def _cancel_unfinished(self, call: RemoteCall, task: TaskView) -> None:
        """The remote task must not go on for nobody, also where its id was never heard."""
        if not task.task_id:
            await self._find(self._message(call), task)
        if task.task_id and task.open:
            await self.cancel(task.task_id)

    def _message(self, call: RemoteCall) -> Message:
        told = [call.scope.to_payload()] if call.scope else []
        return user_message(
            call.text,
            context_id=call.context_id,
            task_id=call.task_id,
            message_id=call.message_id,
            data=[*call.data, *told],
            secret=call.secret if self._connection.knows_senders else "",
        )

    def _failure(self, error: PeerError | ProtocolViolation) -> DelegationFailed:
        if isinstance(error, ProtocolViolation):
            return DelegationFailed(error.message, code=error.code)
        failure = failure_of(self._name, error)
        if isinstance(failure, SubAgentUnavailable):
            log.warning("delegation.unreachable", agent=self._name, exc_info=error)
        else:
            log.warning(
                "delegation.refused", agent=self._name, reason=type(error.__cause__ or error).__name__
            )
        return failure

    def _checked(self, task: TaskView) -> TaskView:
        match task.state:
            case DelegationState.COMPLETED | DelegationState.INPUT_REQUIRED | DelegationState.AUTH_REQUIRED:
                return task
            case DelegationState.FAILED:
                error = task.error or TaskError("", "")
                message = cleaned(error.message or task.said)
                failure = DelegationFailed(
                    message or SUB_AGENT_FAILED.format(agent=self._name),
                    code=one_line(error.code, _LONGEST_CODE) or None,
                    retryable=error.retryable,
                )
                if error.code == OutcomeUnknown.code:  # its answer tells what was found out
                    failure.advice = with_words(OutcomeUnknown.advice, task.text())
                raise failure
            case _:
                ended = SUB_AGENT_ENDED.format(agent=self._name, state=task.state.value)
                raise DelegationFailed(with_words(ended, task.said))


def _worked(call: RemoteCall, task: TaskView, waited: float) -> float:
    """How long a sub-task took: of one that an earlier process had sent, what its agent says, if that is more than was waited here."""
    told = task.sub_tasks.seconds if task.sub_tasks is not None else None
    return max(waited, told or 0.0) if call.maybe_sent and not call.task_id else waited


def _progress(
    call: RemoteCall, agent: str, task: TaskView, event: PeerEvent | None = None
) -> DelegationProgress:
    return DelegationProgress(
        call_id=call.call_id,
        agent=agent,
        remote_task_id=task.task_id,
        state=task.state,
        activity=activity_payload(event.activity, event.agent)
        if isinstance(event, ActivityReported)
        else None,
    )


def _below(task: TaskView) -> dict[str, Any] | None:
    """Tokens and sub-tasks that a task reported, for the tree of the task that caused it."""
    below: dict[str, Any] = {}
    if task.usage is not None:
        below["tokens"] = asdict(sum(task.usage.by_agent.values(), Usage()))
    if task.sub_tasks is not None and task.sub_tasks.children:
        below["children"] = list(task.sub_tasks.children)
    return below or None

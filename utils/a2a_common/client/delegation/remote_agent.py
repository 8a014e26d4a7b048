"""A remote A2A agent: one request sent, its progress reported, its task returned."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import structlog

from utils.a2a_common.client.delegation.abandoned import cancel_unfinished
from utils.a2a_common.client.delegation.long_questions import check_approval_length
from utils.a2a_common.client.delegation.progress import (
    AWAY,
    BUSY,
    PROGRESS_SECONDS,
    ProgressGate,
    Report,
    heartbeat,
    is_progress,
    progress_of,
)
from utils.a2a_common.client.delegation.task_view import TaskView
from utils.a2a_common.client.stream.events import AgentAway, TaskSnapshot
from utils.a2a_common.client.stream.follow import follow_message
from utils.a2a_common.client.stream.message import RemoteCall
from utils.a2a_common.client.stream.patience import Patience
from utils.a2a_common.client.stream.undelivered import not_delivered, without_effect
from utils.a2a_common.client.transport.delegation_failures import AnswerUndelivered, QuestionGone
from utils.a2a_common.client.transport.errors import (
    FailedInside,
    PeerError,
    RequestRefused,
    UnusableAnswer,
    detail_of,
    failure_of,
    never_taken,
)
from utils.a2a_common.client.transport.peer_text import (
    LONGEST_WORK,
    cleaned,
    one_line,
    quotation,
    with_quotation,
)
from utils.a2a_common.client.transport.sentences import (
    MAY_HAVE_DONE_IT,
    SUB_AGENT_ENDED,
    SUB_AGENT_FAILED,
    SUB_AGENT_FORGOT,
    SUB_AGENT_LATE,
)
from utils.a2a_common.client.transport.unclear import DelegationUnclear, is_away
from utils.a2a_common.protocol.extensions import TaskError
from utils.a2a_common.protocol.shown_result import shown_result
from utils.a2a_common.tasks.begun_effects import forget_asked, note_asked
from utils.errors import (
    DelegationFailed,
    OutcomeUnknown,
    ProtocolViolation,
)
from utils.events import (
    DelegationFinished,
    DelegationProgress,
    DelegationStarted,
    DelegationState,
    Usage,
)
from utils.observability.tracebacks import causes_of

if TYPE_CHECKING:
    from utils.a2a_common.client.transport.connection import Connection

log = structlog.get_logger(__name__)

_LONGEST_CODE = 64

_PATIENCE = Patience(quiet_seconds=math.inf, busy_seconds=math.inf)
"""A delegation has a deadline of its own, and an agent may work silently for long."""

_ASKING_SECONDS = 2.0
"""Before the deadline of an answer: what asking the user once more takes at most."""

OnTask = Callable[[str], Awaitable[None]]


async def _ignore_task_id(_task_id: str) -> None:
    """Do not keep the id of the remote task."""


class RemoteAgent:
    """Makes calls to one remote agent.

    Args:
        name: Our name for it.
        connection: Reaches it.
        progress_seconds: Silence after which progress is reported in its place.
        on_away: Called when it cannot be reached while it is waited for.

    Attributes:
        connection: The same.
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
        self.connection = connection
        self._progress_seconds = progress_seconds
        self._on_away = on_away

    async def run(self, call: RemoteCall, report: Report, on_task: OnTask = _ignore_task_id) -> TaskView:
        """Send the message and wait for the end of the task, or for its question.

        Args:
            call: The message.
            report: Called with progress. In a tool it is LangGraph's stream writer, whose events `StreamTranslator.translate` passes on.
            on_task: Called with the id of the remote task as soon as it is known.

        Returns:
            The task in state completed, input-required or auth-required.

        Raises:
            SubAgentUnavailable: The agent cannot be reached.
            AnswerUndelivered: The same, and the task still waits for the answer that the message is.
            DelegationUnclear: The agent may have taken the message, and its outcome is unknown.
            QuestionGone: The task that the message answers was deleted at the agent.
            SubAgentRefused: The agent does not accept the message.
            PeerLimitExceeded: It asks for an approval that is too long to be shown; the task was canceled.
            DelegationFailed: The task failed, was rejected or canceled, or the deadline passed.
        """
        report(DelegationStarted(call.call_id, self._name, call.text))
        started, finished, stopped, waits = time.monotonic(), False, False, False
        failure: DelegationFailed | None = None
        task = TaskView(call.task_id, seen=call.seen)

        def waited(seconds: float) -> DelegationProgress:
            return replace(progress_of(call, self._name, task), seconds=round(seconds, 1))

        try:
            async with (
                asyncio.timeout(call.deadline),
                heartbeat(report, waited, self._progress_seconds) as noted,
            ):
                await self._follow(call, task, ProgressGate(noted), on_task)
            check_approval_length(task, self._name)
            finished = True
        except asyncio.CancelledError:  # whether the remote task has to end too depends on why the turn stops
            stopped = True
            raise
        except TimeoutError as error:
            text = SUB_AGENT_LATE.format(agent=self._name, seconds=call.deadline)
            failure = DelegationFailed(text, code="deadline_exceeded", retryable=True)
            failure.left_open = True
            raise _quoting(failure, task) from error
        except (PeerError, ProtocolViolation) as error:
            failure = self._failure(error, call)
            failure.left_open = _may_go_on(call, task, error)
            stopped = waits = isinstance(failure, AnswerUndelivered)
            raise failure from error
        finally:
            if not finished and not stopped:
                ended = await cancel_unfinished(self.connection, call, task)
                if failure is not None:
                    failure.left_open = failure.left_open and not ended
            state = DelegationState.INPUT_REQUIRED if waits else _left_in(task, finished=finished)
            seconds = _worked(call, task, time.monotonic() - started)
            end = (call.call_id, self._name, task.task_id, state, seconds)
            report(DelegationFinished(*end, below=_below(task), result=shown_result(task.text())))
        return self._checked(task)

    async def _follow(self, call: RemoteCall, task: TaskView, report: Report, on_task: OnTask) -> None:
        known = call.task_id
        if not self.connection.only_reads:
            note_asked(self._name, call.call_id, answer=bool(call.task_id))
        events = follow_message(
            self.connection,
            call.message(signed=self.connection.knows_senders),
            maybe_sent=call.maybe_sent,
            known_task=call.known_task,
            patience=_patience(call),
            on_unread=self._note_unread,
        )
        async with aclosing(events):
            async for event in events:
                if isinstance(event, TaskSnapshot) and task.received:
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
                    report(replace(progress_of(call, self._name, task), waiting=waiting))
                if task.task_id and task.task_id != known:
                    known = task.task_id
                    await on_task(known)
                if is_progress(event, task, before):
                    report(progress_of(call, self._name, task, event))

    def _note_unread(self, error: UnusableAnswer) -> None:
        log.warning("delegation.unread", agent=self._name, detail=error.reason)

    def _failure(self, error: PeerError | ProtocolViolation, call: RemoteCall) -> DelegationFailed:
        only_reads = self.connection.only_reads
        if _was_not_taken(call, error):
            forget_asked(call.call_id)
        if isinstance(error, ProtocolViolation):
            return DelegationFailed(error.message, code=error.code)
        if only_reads:
            error = without_effect(error)
        if call.task_id and isinstance(error, RequestRefused) and error.unknown_task:
            log.warning("delegation.question_gone", agent=self._name)
            return QuestionGone(SUB_AGENT_FORGOT.format(agent=self._name))
        failure = failure_of(self._name, error)
        if is_away(failure):
            log.warning("delegation.unreachable", agent=self._name, causes=causes_of(error))
        else:
            reason, detail = type(error.__cause__ or error).__name__, detail_of(error)
            log.warning("delegation.refused", agent=self._name, reason=reason, detail=detail)
        if call.task_id and never_taken(error):
            return not_delivered(self._name, call, failure, only_reads=only_reads)
        return failure

    def _checked(self, task: TaskView) -> TaskView:
        match task.state:
            case DelegationState.COMPLETED | DelegationState.INPUT_REQUIRED | DelegationState.AUTH_REQUIRED:
                return task
            case DelegationState.FAILED:
                error = task.error or TaskError("", "")
                reported = error.message or task.status_text
                message = cleaned(reported) or SUB_AGENT_FAILED.format(agent=self._name)
                # without a reason, it may have crashed after a change
                if not (reported or error.code or self.connection.only_reads):
                    raise _quoting(DelegationUnclear(f"{message} {MAY_HAVE_DONE_IT}", away=False), task)
                failure = DelegationFailed(
                    message,
                    code=one_line(error.code, _LONGEST_CODE) or None,
                    retryable=error.retryable,
                )
                if error.code == OutcomeUnknown.code:
                    failure.advice = OutcomeUnknown.advice
                raise _quoting(failure, task, reported)
            case _:
                ended = SUB_AGENT_ENDED.format(agent=self._name, state=task.state.value)
                raise _quoting(
                    DelegationFailed(with_quotation(ended, task.status_text)), task, task.status_text
                )


def _patience(call: RemoteCall) -> Patience:
    """How long the agent is waited for. An answer that it is too busy to take comes back while there is time to ask the user again."""
    busy = max(0.0, call.deadline - _ASKING_SECONDS) if call.task_id else math.inf
    return replace(_PATIENCE, restart_seconds=call.restart_seconds, busy_seconds=busy)


def _left_in(task: TaskView, *, finished: bool) -> DelegationState:
    """The state to report for a task that is no longer followed."""
    return DelegationState.FAILED if not finished and task.open else task.state


def _was_not_taken(call: RemoteCall, error: PeerError | ProtocolViolation) -> bool:
    """Whether it is certain that the agent did nothing with the message."""
    if call.maybe_sent or isinstance(error, ProtocolViolation | FailedInside):
        return False
    return isinstance(error, RequestRefused) or never_taken(error)


def _may_go_on(call: RemoteCall, task: TaskView, error: PeerError | ProtocolViolation) -> bool:
    """Whether a task of the message may be worked on, although it is no longer followed."""
    known = bool(task.task_id) or call.maybe_sent
    return known or not (isinstance(error, PeerError) and never_taken(error))


def _quoting(failure: DelegationFailed, task: TaskView, reported: str = "") -> DelegationFailed:
    """The failure with the text that the agent had written, except what is reported already: it may be all that the model needs."""
    failure.quoted = quotation(task.text_without(reported), LONGEST_WORK)
    return failure


def _worked(call: RemoteCall, task: TaskView, waited: float) -> float:
    """Seconds that a sub-task took. If an earlier process sent it, the agent's own figure counts if it is longer than the wait here."""
    reported = task.sub_tasks.seconds if task.sub_tasks is not None else None
    return max(waited, reported or 0.0) if call.maybe_sent and not call.task_id else waited


def _below(task: TaskView) -> dict[str, Any] | None:
    """Tokens and sub-tasks that a task reported, for the tree of the task that caused it."""
    below: dict[str, Any] = {}
    if task.usage is not None:
        below["tokens"] = asdict(sum(task.usage.by_agent.values(), Usage()))
    if task.sub_tasks is not None and task.sub_tasks.children:
        below["children"] = list(task.sub_tasks.children)
    return below or None

"""Runs each tool call between its two events: records it, and turns every error into a result for the model."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import structlog
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from utils.a2a_common.graph.tools.arguments import ArgumentCheck
from utils.a2a_common.graph.tools.call_outcome import CallOutcome
from utils.a2a_common.graph.tools.call_recorder import CallRecorder
from utils.a2a_common.graph.tools.contained_tool import contained
from utils.a2a_common.graph.tools.events import ToolEvent, published_events
from utils.a2a_common.graph.tools.result import UnusableResult
from utils.a2a_common.protocol.shown_result import shown_result
from utils.a2a_common.tasks.begun_effects import forget_effect, has_begun, note_cut, note_effect
from utils.errors import (
    INTERNAL,
    TOOL_CRASHED,
    ArgumentsRefused,
    OutcomeUnknown,
    PlatformError,
    ToolTimeout,
    UpstreamRefused,
)
from utils.events import ToolFinished, ToolStarted, ToolStatus
from utils.messages.characters import of_whole_characters
from utils.messages.handles import full_output_of
from utils.messages.marks import PROBLEM, Problem
from utils.messages.repeatable import may_repeat
from utils.messages.results import ToolProblem, dump_result
from utils.messages.source import labelled
from utils.messages.text import message_text
from utils.messages.unanswered import unanswered
from utils.observability.observed import ObservedCall, observed_delegation, observed_tool_call

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from utils.persistence.tool_record import ToolRecord

log = structlog.get_logger(__name__)

DELEGATION = "delegation"
"""Key of a tool's `metadata` that marks it as another agent."""

NOT_USABLE = "What the tool {tool} returned cannot be used: whether it had its effect is unknown."

NO_REASON = "The tool {tool} failed and gave no reason."

LONGEST_SENTENCE = 2_000
"""Characters of a tool's error message: a sentence for people, not a result."""

_DIGEST_LENGTH = 160
_LONGEST_CHAIN = 5

Handler = Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
Write = Callable[[object], None]


class ToolBoundary(AgentMiddleware):
    """Reports each tool call as events, and turns whatever a tool raises into a `ToolProblem`.

    In a recovered turn, a call that ended in the process that died is answered from the record, without events of
    the call: they were reported at that time, or there was no reader left.

    Args:
        timeout: Seconds that a call may take; delegations have a deadline of their own.
        record: Where calls are recorded; delegations have a store of their own. `None` for no record.
    """

    def __init__(self, timeout: float | None = None, record: ToolRecord | None = None) -> None:
        super().__init__()
        self._timeout = timeout
        self._record = record

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Handler,
    ) -> ToolMessage | Command[Any]:
        """Run one tool call between its two events, or answer it from the record."""
        recorder = CallRecorder(None if _delegates(request) else self._record, request)
        write = request.runtime.stream_writer if _is_shown(request) else _silent
        call_id, name = str(request.tool_call["id"]), request.tool_call["name"]
        try:
            earlier = await recorder.earlier()
        except OutcomeUnknown as error:
            problem = _problem_message(error, call_id, name)
            _note_effect(request)
            await recorder.finish(CallOutcome(problem))
            write(ToolFinished(call_id, name, ToolStatus.INTERRUPTED, 0.0))
            return problem
        if earlier is not None:
            _note_effect(request)
            for event in earlier.events:
                request.runtime.stream_writer(event)
            return earlier.result
        await recorder.begin()
        _note_effect(request)
        write(ToolStarted(call_id, name, digest(request.tool_call["args"])))
        return await self._ended(request, handler, recorder, write)

    async def _ended(
        self, request: ToolCallRequest, handler: Handler, recorder: CallRecorder, write: Write
    ) -> ToolMessage | Command[Any]:
        """Run a call, record its outcome, then report its end."""
        call_id, name = str(request.tool_call["id"]), request.tool_call["name"]
        started, cut, shown = time.monotonic(), False, None
        with _observed(request) as seen, published_events() as events:
            try:
                try:
                    result = await self._in_time(request, handler)
                except GraphBubbleUp:
                    if _may_have_an_effect(request):
                        forget_effect(name, call_id)
                    await recorder.withdraw()
                    raise
                except asyncio.CancelledError as error:
                    if _is_canceled():
                        if not _delegates(request) and has_begun(call_id):
                            note_cut(name)
                        raise
                    result = _problem_message(error, call_id, name)  # of something that the tool waited for
                except UnusableResult as error:
                    result = _unusable(error, request)
                except (Exception, SystemExit) as error:  # noqa: BLE001 - the tool boundary: every error is an answer
                    result = _problem_message(error, call_id, name)
                result = await _recorded(_of_the_call(result, request), events, recorder, request)
                seen.status = _status(result, call_id)
                message = _message_of(result, call_id)
                cut = message is not None and full_output_of(message) is not None
                shown = shown_result(message_text(message)) if message is not None else None
            finally:
                seconds = time.monotonic() - started
                write(ToolFinished(call_id, name, seen.status, seconds, truncated=cut, result=shown))
        return result

    async def _in_time(
        self,
        request: ToolCallRequest,
        handler: Handler,
    ) -> ToolMessage | Command[Any]:
        limit = None if _delegates(request) else self._timeout
        allowed = asyncio.timeout(limit)
        tool = request.tool and contained(request.tool, str(request.tool_call["id"]))
        check = ArgumentCheck(tool) if tool is not None else None
        try:
            async with allowed:
                result = await handler(request.override(tool=check.watched) if check else request)
        except TimeoutError as error:
            if not allowed.expired():
                raise
            late = ToolTimeout(
                f"The tool {request.tool_call['name']} did not answer within {limit:g} seconds."
            )
            raise (unanswered(late, request.tool.metadata) if request.tool is not None else late) from error
        if check is not None and check.error is not None:
            raise check.error
        return result


def _of_the_call(result: ToolMessage | Command[Any], request: ToolCallRequest) -> ToolMessage | Command[Any]:
    """A result that is stored as that of its call, whichever call a message of the tool's own names."""
    result = of_whole_characters(result)
    if not isinstance(result, ToolMessage):
        return result
    result.tool_call_id = str(request.tool_call["id"])
    return labelled(result, request.tool.metadata) if request.tool is not None else result


async def _recorded(
    result: ToolMessage | Command[Any],
    events: Sequence[ToolEvent],
    recorder: CallRecorder,
    request: ToolCallRequest,
) -> ToolMessage | Command[Any]:
    """The result, recorded; a problem in its place where it has something that cannot be stored."""
    try:
        await recorder.finish(CallOutcome(result, events))
    except PlatformError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the tool made raises as it likes when it is written
        result = _unusable(error, request)
        await recorder.finish(CallOutcome(result))
    return result


def _unusable(error: Exception, request: ToolCallRequest) -> ToolMessage:
    """The answer of a tool whose result cannot be used. Its effect has happened, so it must not be called again for that."""
    call_id, name = str(request.tool_call["id"]), request.tool_call["name"]
    crashed = _problem_message(error, call_id, name)
    if not _may_have_an_effect(request):
        return crashed
    return _problem_message(OutcomeUnknown(NOT_USABLE.format(tool=name)), call_id, name)


def may_have_an_effect(tool: BaseTool) -> bool:
    """Whether a call of a tool may itself change something, from its beginning.

    A delegation does not: the other agent reports its own effects. A tool that prevents a second effect of a repeated call knows
    when it has one, and notes that itself with `note_effect`.
    """
    return not ((tool.metadata or {}).get(DELEGATION) or may_repeat(tool.metadata))


def _may_have_an_effect(request: ToolCallRequest) -> bool:
    return request.tool is not None and may_have_an_effect(request.tool)


def _note_effect(request: ToolCallRequest) -> None:
    if _may_have_an_effect(request):
        note_effect(request.tool_call["name"], str(request.tool_call["id"]))


def _is_shown(request: ToolCallRequest) -> bool:
    """Whether the call is reported as a tool call; a delegation reports more by events of its own."""
    return not _delegates(request)


def _delegates(request: ToolCallRequest) -> bool:
    return bool(request.tool is not None and (request.tool.metadata or {}).get(DELEGATION))


def _observed(request: ToolCallRequest) -> AbstractContextManager[ObservedCall]:
    """Measures a call; a tool that a model made up has no name there."""
    if request.tool is None:
        return observed_tool_call("unknown")
    return (observed_delegation if _delegates(request) else observed_tool_call)(request.tool.name)


def _message_of(result: ToolMessage | Command[Any], call_id: str) -> ToolMessage | None:
    """The message of a result; of a command, that of the call."""
    update = result.update if isinstance(result, Command) else {"messages": [result]}
    messages = update.get("messages", ()) if isinstance(update, Mapping) else ()
    answers = (each for each in messages if isinstance(each, ToolMessage) and each.tool_call_id == call_id)
    return next(answers, None)


def _status(result: ToolMessage | Command[Any], call_id: str) -> ToolStatus:
    message = _message_of(result, call_id)
    failed = message is not None and message.status == "error"
    return ToolStatus.ERROR if failed else ToolStatus.OK


def _is_canceled() -> bool:
    """Whether it is the call itself that is canceled."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _silent(_event: object) -> None:
    pass


def digest(arguments: Mapping[str, Any]) -> str:
    """A tool call's arguments in one short line for display."""
    text = ", ".join(
        f"{name}={json.dumps(value, default=str, ensure_ascii=False)}" for name, value in arguments.items()
    )
    return text if len(text) <= _DIGEST_LENGTH else text[: _DIGEST_LENGTH - 1] + "…"


def _kinds(cause: BaseException | None) -> str:
    """Types of the cause of an error and of what caused that in turn; their texts may quote what a user wrote."""
    found: list[str] = []
    while cause is not None and len(found) < _LONGEST_CHAIN:
        found.append(type(cause).__name__)
        cause = cause.__cause__
    return " from ".join(found)


def _sentence(error: PlatformError, tool: str) -> str:
    text = of_whole_characters(error.message)
    if not text.strip():
        return NO_REASON.format(tool=tool)
    return text if len(text) <= LONGEST_SENTENCE else text[: LONGEST_SENTENCE - 1] + "…"


def _problem_message(error: BaseException, call_id: str, name: str) -> ToolMessage:
    if isinstance(error, PlatformError):
        log.warning("tool.failed", tool=name, code=error.code, cause=_kinds(error.__cause__))
        note = of_whole_characters(" ".join(filter(None, (error.advice, error.quoted))))
        problem = ToolProblem(
            error=error.code, message=_sentence(error, name), retryable=error.retryable, note=note or None
        )
    else:
        log.error("tool.crashed", tool=name, exc_info=error)
        problem = ToolProblem(error=INTERNAL, message=TOOL_CRASHED.format(tool=name))
    fatal = not isinstance(error, UpstreamRefused | ArgumentsRefused | OutcomeUnknown)
    quotes = isinstance(error, PlatformError) and bool(error.quoted)
    return ToolMessage(
        content=dump_result(problem),
        tool_call_id=call_id,
        name=name,
        status="error",
        additional_kwargs=PROBLEM.entry(
            Problem(problem.error, problem.message, problem.retryable, fatal, quotes)
        ),
    )

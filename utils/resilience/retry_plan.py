"""Decides how to retry a failed model call, by the type of the failure alone. Pure but for jitter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from utils.errors import (
    AnswerCut,
    AnswerRepeated,
    EmptyResponse,
    ModelFailure,
    ModelSlow,
    ModelUnavailable,
    OrphanedToolCall,
    RateLimited,
    ReplyUnusable,
    ToolCallUnreadable,
)
from utils.llm.reply.form import FormUnfilled
from utils.llm.reply.many_calls import CallsTooMany
from utils.timing import Deadline, backoff

TRIES: dict[type[ModelFailure], int] = {
    OrphanedToolCall: 1,
    EmptyResponse: 1,
    AnswerCut: 1,
    AnswerRepeated: 1,
    CallsTooMany: 1,
    FormUnfilled: 1,
    ToolCallUnreadable: 1,
    ModelSlow: 1,
    ModelUnavailable: 2,
    RateLimited: 3,
}
"""Retries with the same model, by type of failure; of all types together at most `LLM_MAX_RETRIES`.

The clients of the providers retry nothing by themselves. A model that did not begin to answer in time is not asked
again: its server may still be working on the first request. A context overflow is not among them: the context middleware has compacted and retried already.
"""


NOTICES: dict[type[ModelFailure], str] = {
    AnswerCut: (
        "Your last reply to this was cut off, and nothing of it was run. "
        "Reply again, shorter; make one tool call at a time, with short arguments."
    ),
    AnswerRepeated: (
        "Your last reply to this repeated the same words without end, and was stopped. Reply again, briefly, and "
        "stop when all is said."
    ),
    CallsTooMany: (
        "Your last reply to this held too many tool calls, and none of them was run. Reply again with the few calls that matter most."
    ),
    FormUnfilled: (
        "Your last reply to this did not fill the form that every answer has. {detail} Reply again with the whole form "
        "and nothing else, each field of its type."
    ),
    ToolCallUnreadable: (
        "Your last reply to this held a tool call that could not be read, and nothing of it was run. "
        'Call tools through the tool interface only, or write nothing but {"name": …, "arguments": {…}} as valid JSON.'
    ),
}
"""What the model is told about its last reply when it is asked again."""


@dataclass(frozen=True, slots=True)
class Retry:
    """One retry.

    Attributes:
        seconds: How long to wait before it.
        compact: Whether to compact the context, whatever its size.
        fallback: Whether to use the fallback model from now on.
        notice: What the model is told about its last reply.
    """

    seconds: float = 0.0
    compact: bool = False
    fallback: bool = False
    notice: str = ""


class RetryPlan:
    """The retries of one model call.

    Args:
        has_fallback: Whether there is a fallback model.
        most_retries: Most retries of all kinds.
        most_seconds: Total seconds that may be waited.
        deadline: No retry starts after it.
        wait: Seconds to wait after try 1, 2, …, when the provider gave none.
    """

    def __init__(
        self,
        *,
        has_fallback: bool,
        most_retries: int,
        most_seconds: float,
        deadline: Deadline,
        wait: Callable[[int], float] = backoff,
    ) -> None:
        self._fallback_left = has_fallback
        self._retries_left = most_retries
        self._seconds_left = most_seconds
        self._deadline = deadline
        self._wait = wait
        self._failed: Counter[type[ModelFailure]] = Counter()

    @property
    def attempts(self) -> int:
        """How many tries failed."""
        return self._failed.total()

    def after(self, failure: ModelFailure) -> Retry | None:
        """The retry for a failure, or `None` to give up."""
        kind = type(failure)
        self._failed[kind] += 1
        if isinstance(failure, ModelUnavailable) and self._fallback_left:
            return self._to_fallback()
        allowed = self._retries_left > 0 and self._failed[kind] <= TRIES.get(kind, 0)
        retry = self._again(failure) if allowed else None
        if retry is not None:
            self._retries_left -= 1
        elif isinstance(failure, RateLimited) and self._fallback_left:
            return self._to_fallback()
        return retry

    def _again(self, failure: ModelFailure) -> Retry | None:
        if isinstance(failure, EmptyResponse | OrphanedToolCall):
            return Retry(compact=True)
        if isinstance(failure, ModelSlow) and not failure.begun:
            return None
        if isinstance(failure, ReplyUnusable):
            return Retry(notice=_notice(failure))
        asked = failure.retry_after if isinstance(failure, RateLimited) else None
        seconds = asked if asked is not None else self._wait(self._failed[type(failure)])
        if seconds > self._seconds_left or not self._deadline.allows(seconds):
            return None
        self._seconds_left -= seconds
        return Retry(seconds=seconds)

    def _to_fallback(self) -> Retry:
        self._fallback_left = False
        self._failed.clear()
        return Retry(fallback=True)


def _notice(failure: ReplyUnusable) -> str:
    notice = NOTICES.get(type(failure), "")
    if isinstance(failure, FormUnfilled):
        return notice.replace("{detail} ", f"{failure.detail} " if failure.detail else "")
    return notice

"""Decides how to retry a failed model call, by the type of the failure alone. Pure but for jitter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from utils.errors import (
    AnswerCut,
    EmptyResponse,
    ModelFailure,
    ModelUnavailable,
    OrphanedToolCall,
    RateLimited,
    ReplyUnusable,
    ToolCallUnreadable,
)
from utils.resilience.timing import Deadline, backoff

TRIES: dict[type[ModelFailure], int] = {
    OrphanedToolCall: 1,
    EmptyResponse: 1,
    AnswerCut: 1,
    ToolCallUnreadable: 1,
    ModelUnavailable: 1,
    RateLimited: 6,
}
"""Retries with the same model, by type of failure.

A context overflow is not among them: the context middleware has compacted and retried already.
"""


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
        most_seconds: Total seconds that may be waited.
        deadline: No retry starts after it.
        wait: Seconds to wait after try 1, 2, …, when the provider gave none.
    """

    def __init__(
        self,
        *,
        has_fallback: bool,
        most_seconds: float,
        deadline: Deadline,
        wait: Callable[[int], float] = backoff,
    ) -> None:
        self._fallback_left = has_fallback
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
        retry = self._again(failure) if self._failed[kind] <= TRIES.get(kind, 0) else None
        if retry is None and isinstance(failure, ModelUnavailable | RateLimited) and self._fallback_left:
            return self._to_fallback()
        return retry

    def _again(self, failure: ModelFailure) -> Retry | None:
        if isinstance(failure, EmptyResponse | OrphanedToolCall):
            return Retry(compact=True)
        if isinstance(failure, ReplyUnusable):
            return Retry(notice=failure.notice)
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

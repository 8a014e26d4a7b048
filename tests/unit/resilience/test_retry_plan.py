"""What is done after a failed model call, by the type of the failure."""

from __future__ import annotations

import pytest

from utils.errors import (
    AuthFailed,
    ContextOverflow,
    EmptyResponse,
    InvalidRequest,
    ModelFailure,
    ModelSlow,
    ModelUnavailable,
    OrphanedToolCall,
    RateLimited,
)
from utils.llm.reply.form import FormUnfilled
from utils.resilience.retry_plan import Retry, RetryPlan
from utils.timing import LONGEST_WAIT, Deadline, backoff


def plan(
    *, fallback: bool = False, retries: int = 3, seconds: float = 60.0, deadline: float | None = None
) -> RetryPlan:
    return RetryPlan(
        has_fallback=fallback,
        most_retries=retries,
        most_seconds=seconds,
        deadline=Deadline.after(deadline),
        wait=lambda _: 1.0,
    )


@pytest.mark.parametrize(
    "failure", [AuthFailed("no"), InvalidRequest("no"), ModelFailure("no"), ContextOverflow("no")]
)
def test_what_a_retry_does_not_mend_is_not_tried_again(failure: ModelFailure) -> None:
    assert plan(fallback=True).after(failure) is None


@pytest.mark.parametrize("failure", [EmptyResponse("no"), OrphanedToolCall("no")])
def test_an_empty_or_refused_conversation_is_sent_once_more_and_smaller(failure: ModelFailure) -> None:
    tries = plan()
    assert [tries.after(failure), tries.after(failure)] == [Retry(compact=True), None]


def test_a_form_that_is_not_filled_is_asked_for_once_more_with_what_is_wrong() -> None:
    tries = plan()
    first = tries.after(FormUnfilled("no", detail="safe: Field required."))
    assert first is not None
    assert "safe: Field required. Reply again" in first.notice
    assert tries.after(FormUnfilled("no")) is None
    bare = plan().after(FormUnfilled("no"))
    assert bare is not None
    assert "{detail}" not in bare.notice


def test_the_wait_that_the_provider_asks_for_is_kept_to() -> None:
    assert plan().after(RateLimited("no", retry_after=7)) == Retry(seconds=7)


def test_all_waits_together_stay_within_the_limit() -> None:
    tries = plan(seconds=10)
    busy = RateLimited("no", retry_after=4)
    assert [tries.after(busy), tries.after(busy), tries.after(busy)] == [Retry(4), Retry(4), None]


def test_no_wait_passes_the_deadline() -> None:
    assert plan(deadline=2).after(RateLimited("no", retry_after=3)) is None


def test_the_fallback_is_asked_at_once_where_the_model_is_down_and_has_tries_of_its_own() -> None:
    tries = plan(fallback=True)
    down = ModelUnavailable("no")
    assert tries.after(down) == Retry(fallback=True)
    assert [tries.after(down), tries.after(down), tries.after(down)] == [Retry(1.0), Retry(1.0), None]


def test_retries_of_all_kinds_together_stay_within_the_setting() -> None:
    tries = plan(retries=2)
    failures = [RateLimited("no"), EmptyResponse("no"), ModelUnavailable("no")]
    assert [tries.after(each) is None for each in failures] == [False, False, True]
    assert plan(retries=0).after(RateLimited("no")) is None
    assert plan(retries=0, fallback=True).after(ModelUnavailable("no")) == Retry(fallback=True)


def test_a_model_that_is_slow_to_begin_is_not_asked_again_and_one_that_stalls_is_once() -> None:
    assert plan().after(ModelSlow("no")) is None
    assert plan(fallback=True).after(ModelSlow("no")) == Retry(fallback=True)
    tries = plan()
    assert [tries.after(ModelSlow("no", begun=True)) is None for _ in range(2)] == [False, True]


def test_a_busy_model_is_waited_for_before_the_fallback_is_asked() -> None:
    tries = plan(fallback=True, seconds=5)
    busy = RateLimited("no", retry_after=4)
    assert [tries.after(busy), tries.after(busy)] == [Retry(4), Retry(fallback=True)]


def test_waits_double_up_to_a_limit() -> None:
    waits = [backoff(attempt) for attempt in range(1, 12)]
    assert all(0.5 * 2**index <= wait <= 2**index for index, wait in enumerate(waits[:5]))
    assert max(waits) <= LONGEST_WAIT


def test_a_server_that_is_down_for_days_is_still_tried_again() -> None:
    assert 0 < backoff(100_000) <= LONGEST_WAIT

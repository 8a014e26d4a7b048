"""Counting: what an event is worth, and what may become a label."""

from __future__ import annotations

import pytest

from utils.events import (
    Completed,
    ContextCompacted,
    DelegationFinished,
    DelegationState,
    Failed,
    InputRequired,
    ModelRetried,
    TextDelta,
    Usage,
    UsageReported,
)
from utils.observability import catalogue
from utils.observability.metrics import MOST_VALUES, OTHER, Metrics, Observation, process_metrics, set_breaker
from utils.observability.turn_meter import TurnMeter, observations


def counted(metrics: Metrics, metric: catalogue.Metric, suffix: str = "", **labels: str) -> float | None:
    return metrics.registry.get_sample_value(metric.name + suffix, labels)


def test_a_compaction_counts_once_and_by_what_it_saved() -> None:
    labels = {"agent": "rag", "strategy": "clear"}
    assert list(observations(ContextCompacted("clear", 900, 400, 1000), "rag")) == [
        Observation(catalogue.COMPACTIONS, 1, labels),
        Observation(catalogue.SAVED_TOKENS, 500, labels),
    ]


def test_a_delegation_counts_by_the_agent_and_the_state_it_ended_in() -> None:
    event = DelegationFinished("c", "github", "t", DelegationState.INPUT_REQUIRED, 2.5)
    assert list(observations(event, "platform-engineer")) == [
        Observation(catalogue.DELEGATIONS, 1, {"agent": "github", "state": "input-required"}),
        Observation(catalogue.DELEGATION_SECONDS, 2.5, {"agent": "github"}),
    ]


def test_reported_tokens_count_under_our_own_name_for_the_sub_agent_and_never_twice() -> None:
    usage = {
        "platform-engineer": Usage(9, 9),
        "github": Usage(5, 0, 2),
        "github/ada@example.com": Usage(0, 1),
    }
    assert [(one.amount, one.labels) for one in observations(UsageReported(usage), "platform-engineer")] == [
        (5, {"agent": "github", "direction": "input"}),
        (2, {"agent": "github", "direction": "cached"}),
        (1, {"agent": "github", "direction": "output"}),
    ]


def test_a_retry_and_a_failure_count_by_their_code() -> None:
    assert [one.labels for one in observations(ModelRetried("rate_limited", 1), "rag")] == [
        {"reason": "rate_limited"}
    ]
    assert [one.labels for one in observations(Failed("no_answer", "Words."), "rag")] == [
        {"agent": "rag", "code": "no_answer"}
    ]


@pytest.mark.parametrize(
    "value", ["ada@example.com", "Ada Lovelace", "", "x" * 65, "a\nb", 'a"} 1', "ümlaut", "../etc"]
)
def test_what_is_no_plain_name_is_counted_as_other(value: str) -> None:
    metrics = Metrics()
    metrics.record(Observation(catalogue.FAILURES, 1, {"agent": "rag", "code": value}))
    assert counted(metrics, catalogue.FAILURES, agent="rag", code=OTHER) == 1


def test_a_peer_cannot_make_the_registry_grow_without_end() -> None:
    metrics = Metrics()
    for number in range(3 * MOST_VALUES):
        metrics.record(Observation(catalogue.RETRIES, 1, {"reason": f"code_{number}"}))
    assert metrics.text().decode().count(f"{catalogue.RETRIES.name}{{") == MOST_VALUES + 1
    assert counted(metrics, catalogue.RETRIES, reason=OTHER) == 2 * MOST_VALUES


@pytest.mark.parametrize(
    ("events", "outcome"),
    [
        ([Completed()], "completed"),
        ([Failed("x", "X.")], "failed"),
        ([InputRequired("Which?", "rag")], "input_required"),
        ([TextDelta("Half an ans")], "canceled"),
    ],
)
def test_a_turn_ends_in_one_outcome(events: list[Completed], outcome: str) -> None:
    metrics = Metrics()
    meter = TurnMeter("rag", metrics)
    assert counted(metrics, catalogue.RUNNING, agent="rag") == 1
    for event in events:
        meter.note(event)
    meter.end()
    assert counted(metrics, catalogue.TURNS, agent="rag", outcome=outcome) == 1
    assert counted(metrics, catalogue.RUNNING, agent="rag") == 0


def test_the_first_text_is_timed_once_from_the_begin_of_the_turn() -> None:
    metrics, now = Metrics(), [10.0]
    meter = TurnMeter("rag", metrics, clock=lambda: now[0])
    meter.note(TextDelta(""))
    now[0] = 12.0
    meter.note(TextDelta("Hello"))
    now[0] = 15.0
    meter.note(TextDelta(" there"))
    meter.end()
    assert counted(metrics, catalogue.FIRST_TOKEN, "_sum", agent="rag") == 2
    assert counted(metrics, catalogue.FIRST_TOKEN, "_count", agent="rag") == 1
    assert counted(metrics, catalogue.TURN_SECONDS, "_sum", agent="rag") == 5


def test_a_breaker_is_in_exactly_one_state() -> None:
    for state in ("open", "half_open", "closed", "open"):
        set_breaker("github", state)
    found = {
        state: counted(process_metrics(), catalogue.BREAKER, agent="github", state=state)
        for state in ("closed", "half_open", "open")
    }
    assert found == {"closed": 0, "half_open": 0, "open": 1}
    with pytest.raises(ValueError, match="ajar"):
        set_breaker("github", "ajar")

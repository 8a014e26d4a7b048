"""The metrics of this process, in one Prometheus registry.

Counting never fails or delays a turn. Label values are limited: a value that is not a short plain name, or exceeds
the number of values, is counted as `other`. Text of a user or a model therefore never becomes a label, and no peer can
make the registry grow without limit.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from utils.observability import catalogue
from utils.observability.catalogue import CATALOGUE, Metric

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

OTHER = "other"

MOST_VALUES = 100
"""Largest number of values of one label; more than a process has agents or tools."""

BREAKER_STATES = ("closed", "half_open", "open")

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")


class Observation(NamedTuple):
    """A value for a metric: the metric, the amount, and its label values."""

    metric: Metric
    amount: float
    labels: Mapping[str, str]


class Metrics:
    """A registry with every metric of the catalogue."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, ProcessCollector, disable_created_metrics

        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry: CollectorRegistry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._series = {metric.name: _instrument(metric, self.registry) for metric in CATALOGUE}
        self._seen: dict[tuple[str, str], set[str]] = defaultdict(set)

    def record(self, observation: Observation) -> None:
        """Add one observation: to a counter, a gauge or a histogram."""
        metric, amount, labels = observation
        child = self._child(metric, labels)
        if metric.kind == "histogram":
            child.observe(amount)
        else:
            child.inc(amount)

    def set(self, metric: Metric, value: float, **labels: str) -> None:
        """Set a gauge."""
        self._child(metric, labels).set(value)

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry)

    def _child(self, metric: Metric, labels: Mapping[str, str]) -> Any:
        series = self._series[metric.name]
        if not metric.labels:
            return series
        return series.labels(*(self._bounded(metric, name, labels[name]) for name in metric.labels))

    def _bounded(self, metric: Metric, label: str, value: str) -> str:
        seen = self._seen[metric.name, label]
        if value in seen:
            return value
        if len(seen) >= MOST_VALUES or not _NAME.fullmatch(value):
            return OTHER
        seen.add(value)
        return value


def _instrument(metric: Metric, registry: CollectorRegistry) -> Any:
    from prometheus_client import Counter, Gauge, Histogram

    if metric.kind == "histogram":
        return Histogram(
            metric.name, metric.meaning, metric.labels, registry=registry, buckets=metric.buckets
        )
    kind = Counter if metric.kind == "counter" else Gauge
    return kind(metric.name, metric.meaning, metric.labels, registry=registry)


@cache
def process_metrics() -> Metrics:
    """The registry of this process."""
    return Metrics()


def count(metric: Metric, amount: float = 1, **labels: str) -> None:
    """Increase a counter, or add an amount to a histogram."""
    process_metrics().record(Observation(metric, amount, labels))


@contextmanager
def held(metric: Metric, **labels: str) -> Iterator[None]:
    """Increase a gauge during the block."""
    count(metric, 1, **labels)
    try:
        yield
    finally:
        count(metric, -1, **labels)


def set_breaker(agent: str, state: str) -> None:
    """Set the state of an agent's circuit breaker: one of `BREAKER_STATES`.

    Raises:
        ValueError: There is no such state.
    """
    if state not in BREAKER_STATES:
        raise ValueError(state)
    for each in BREAKER_STATES:
        process_metrics().set(catalogue.BREAKER, float(each == state), agent=agent, state=each)

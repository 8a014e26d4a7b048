"""Access to the meter of a request's task: the model calls that are left, and the usage of calls besides the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain.agents.middleware import ModelRequest

from utils.events import Usage, UsageReported
from utils.messages.transcript import calls_this_turn


def calls_left(request: ModelRequest[Any], most: int | None) -> int | None:
    """Model calls that may follow this one: of the turn's `most`, and of the steps that the task's budget has left.

    0 where another limit of the budget is nearly used up, since the model is asked for its last answer then; `None` without any limit.
    """
    left = [] if most is None else [most - calls_this_turn(request.messages) - 1]
    meter = getattr(request.runtime.context, "meter", None)
    if meter is not None:
        if meter.nearly_over():
            return 0
        if (steps := meter.budget.steps) is not None:
            left.append(int(steps - meter.steps) - 1)
    return max(0, min(left)) if left else None


def report_usage(request: ModelRequest[Any], cost: Mapping[str, Usage]) -> None:
    """Report usage by purpose to the graph's stream, and count it on the task's budget."""
    request.runtime.stream_writer(UsageReported(cost))
    if meter := getattr(request.runtime.context, "meter", None):
        meter.add(sum(cost.values(), Usage()))

"""Reports what model calls beside the answer have used: summaries, decisions, constraints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain.agents.middleware import ModelRequest

from utils.events import Usage, UsageReported


def report_usage(request: ModelRequest[Any], cost: Mapping[str, Usage]) -> None:
    """Tell the graph's stream what was used, by purpose, and count it on the task's budget."""
    request.runtime.stream_writer(UsageReported(cost))
    if meter := getattr(request.runtime.context, "meter", None):
        meter.add(sum(cost.values(), Usage()))

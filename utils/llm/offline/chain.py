"""Two steps where one thing is asked for by its place: "why did the last run fail" is a list, then a row of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from utils.llm.offline.arguments import flags
from utils.llm.offline.conversation import Call
from utils.llm.offline.entities import numbers
from utils.llm.offline.followup import row_arguments
from utils.llm.offline.grammar import FORMS
from utils.llm.offline.steps import Step, made
from utils.messages.results import Items, parse_result

_BAD = frozenset({"failure", "failed", "timed_out", "startup_failure"})


def second_calls(calls: Sequence[Call], steps: Sequence[Step]) -> list[tuple[str, Mapping[str, Any]] | None]:
    """For each call of the first round the one that shows the row which its list was made to find, or `None`."""
    return [_second(step, call) for step, call in zip(made(steps), calls, strict=False)]


def _second(step: Step, call: Call) -> tuple[str, Mapping[str, Any]] | None:
    result = parse_result(call.result or "")
    if not step.then or not isinstance(result, Items):
        return None
    row = _row(result.items, step.reading)
    detail = row_arguments(step.then, row, call) if row else None
    return (step.then.name, {**flags(step.then, step.reading), **detail}) if detail else None


def _row(rows: Sequence[dict[str, Any]], reading: str) -> dict[str, Any] | None:
    if wanted := {each.value for each in numbers(reading) if each.counted}:
        return next((row for row in rows if row.get("number") in wanted), None)
    ended = any(
        {"conclusion", "status"} & row.keys() for row in rows
    )  # an issue "about a failed login" has neither
    if not (ended and FORMS["failed"].search(reading)):
        return next(iter(rows), None)
    return next((row for row in rows if {str(row.get("conclusion")), str(row.get("status"))} & _BAD), None)

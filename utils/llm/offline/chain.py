"""Two steps where one thing is asked for by its place: "why did the last run fail" is a list, then a row of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from utils.llm.offline.conversation import Turn
from utils.llm.offline.followup import detail_call
from utils.llm.offline.grammar import pattern
from utils.llm.offline.plan import Step
from utils.messages.results import Items, parse_result

_FAILED = pattern(r"\bfail|\bbroke|\bred\b")
_BAD = frozenset({"failure", "failed", "timed_out", "startup_failure"})


def second_calls(turn: Turn, steps: Sequence[Step]) -> list[tuple[str, Mapping[str, Any]]]:
    """Calls for the rows that the first round's lists were made to find."""
    callable_steps = [step for step in steps if step.tool and not step.missing]
    if len(callable_steps) != len(turn.calls):
        return []
    found: list[tuple[str, Mapping[str, Any]]] = []
    for step, call in zip(callable_steps, turn.calls, strict=True):
        result = parse_result(call.result or "")
        if not step.then or not isinstance(result, Items):
            continue
        row = _row(result.items, step.reading)
        detail = detail_call(row, call, [step.then]) if row else None
        if detail:
            found.append((detail[0].name, detail[1]))
    return found


def _row(rows: Sequence[dict[str, Any]], reading: str) -> dict[str, Any] | None:
    if not _FAILED.search(reading):
        return next(iter(rows), None)
    return next((row for row in rows if {str(row.get("conclusion")), str(row.get("status"))} & _BAD), None)

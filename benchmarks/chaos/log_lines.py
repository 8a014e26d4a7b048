"""What the processes' logs say about the run. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

_CLOSED_QUEUE = re.compile(r"queue\b.*\bclosed", re.IGNORECASE)
_INJECTED = ("tool.crashed", "ZeroDivisionError")


def parsed(lines: Iterable[str]) -> list[dict[str, Any]]:
    """The lines that are JSON objects; another one, as of an interpreter that dies, is a crash."""
    found = []
    for line in filter(str.strip, lines):
        try:
            found.append(json.loads(line))
        except ValueError:
            found.append({"level": "critical", "event": line.strip()})
    return found


def closures(lines: Iterable[dict[str, Any]]) -> Counter[str]:
    """Lines on a closed queue by task, ours and the SDK's."""
    return Counter(
        str(line.get("task_id") or line["event"])
        for line in lines
        if _CLOSED_QUEUE.search(f"{line.get('event')} {line.get('message')}")
    )


def crashes(lines: Iterable[dict[str, Any]]) -> list[str]:
    """Errors that nobody injected, each in one line."""
    return [
        f"{line.get('event')}: {str(line.get('exception', '')).strip().splitlines()[-1:]}"
        for line in lines
        if line.get("level") in {"error", "critical"} and not _is_injected(line)
    ]


def _is_injected(line: dict[str, Any]) -> bool:
    event, cause = _INJECTED
    return line.get("event") == event and cause in str(line.get("exception", ""))

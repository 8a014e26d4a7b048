"""How long a provider asks to wait: parsed from its refusal, and worded for a user."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from utils.net.retry_after import asked_wait

_WAIT = re.compile(r"(?:try again|retry) in (\d+(?:\.\d+)?)(ms|s)\b")

_MOMENT = 60.0
"""Waits up to this many seconds are not specified: they are a moment."""

_MANY_MINUTES = 120 * 60.0
"""Waits up to this many seconds are given in minutes, longer ones in hours."""


def retry_after(headers: object, text: str) -> float | None:
    """Seconds that a refusal asks to wait, from its header or else its text; `None` if it does not say."""
    value = headers.get("retry-after") if isinstance(headers, Mapping) else None
    seconds = asked_wait(value)
    if seconds is not None:
        return seconds
    found = _WAIT.search(text)
    if found is None:
        return None
    return float(found[1]) / (1000 if found[2] == "ms" else 1)


def in_words(seconds: float | None) -> str:
    """A wait in words, rounded up, so that a retry after it is not refused again; empty if it is only a moment."""
    if seconds is None or not math.isfinite(seconds) or seconds <= _MOMENT:
        return ""
    if seconds <= _MANY_MINUTES:
        return f"{math.ceil(seconds / 60)} minutes"
    return f"{math.ceil(seconds / 3600)} hours"

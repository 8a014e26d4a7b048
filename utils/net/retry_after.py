"""The wait that a server asks for in the header `Retry-After`."""

from __future__ import annotations

import math
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def asked_wait(value: object) -> float | None:
    """Seconds from now that a `Retry-After` names, as a number or as a date.

    Returns:
        A finite number, 0 or more; `None` if the value is missing or cannot be read.
    """
    text = str(value)
    with suppress(ValueError):
        seconds = float(text)
        return max(0.0, seconds) if math.isfinite(seconds) else None
    with suppress(ValueError, TypeError, OverflowError):
        date = parsedate_to_datetime(text)
        zoned = date if date.tzinfo else date.replace(tzinfo=UTC)
        return max(0.0, (zoned - datetime.now(UTC)).total_seconds())
    return None

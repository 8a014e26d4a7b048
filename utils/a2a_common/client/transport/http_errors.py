"""What the HTTP status of an agent's answer says, where the answer is an error."""

from __future__ import annotations

from utils.net.retry_after import asked_wait

BUSY_STATUS = (429, 503)

SHORTEST_RETRY, LONGEST_RETRY = 0.2, 30.0
"""Bounds in seconds of what an agent may say in `Retry-After`."""


def status_of(error: BaseException) -> int:
    """The HTTP status of an answer that is an error; 0 where it is something else."""
    import httpx

    return error.response.status_code if isinstance(error, httpx.HTTPStatusError) else 0


def retry_after_of(error: BaseException) -> float | None:
    """Seconds after which a refused HTTP request may be sent again; `None` where the answer does not say so."""
    import httpx

    if not isinstance(error, httpx.HTTPStatusError) or error.response.status_code not in BUSY_STATUS:
        return None
    seconds = asked_wait(error.response.headers.get("Retry-After"))
    return None if seconds is None else min(max(seconds, SHORTEST_RETRY), LONGEST_RETRY)

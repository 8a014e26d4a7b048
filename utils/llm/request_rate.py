"""The limit of requests to a provider: of this process, for all of its models."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from utils.settings import LLMSettings

if TYPE_CHECKING:
    from langchain_core.rate_limiters import InMemoryRateLimiter

_LOOK_SECONDS = 0.05


def request_limiter(settings: LLMSettings) -> InMemoryRateLimiter | None:
    """The limiter of these settings; `None` without a limit.

    The models of a process share one, since they share a key: the chat model, the model for summaries, the fallback model.
    """
    if settings.requests_per_minute is None:
        return None
    return _limiter(settings.requests_per_minute * settings.requests_share)


@cache
def _limiter(per_minute: float) -> InMemoryRateLimiter:
    from langchain_core.rate_limiters import InMemoryRateLimiter

    return InMemoryRateLimiter(
        requests_per_second=per_minute / 60, check_every_n_seconds=_LOOK_SECONDS, max_bucket_size=1
    )

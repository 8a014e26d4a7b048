"""githubkit on one shared HTTP client. Imported when the first request is made: it is heavy."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
from githubkit import GitHubCore, Response
from githubkit.exception import (
    GitHubException,
    RateLimitExceeded,
    RequestError,
    RequestFailed,
    RequestTimeout,
    SecondaryRateLimitExceeded,
)
from githubkit.retry import RetryOption

from agents.github.settings import GitHubSettings
from utils.net.loopback import is_loopback

RETRY_PAUSE = timedelta(milliseconds=200)
"""Pause before the first retry; it doubles each time."""
LONGEST_PAUSE = timedelta(seconds=3)
"""A wait that GitHub asks for is sat out up to this; a longer one is told to the user."""
_UNTOLD = timedelta(seconds=60)
"""A wait whose length GitHub did not tell: as its documentation advises."""
_SERVER_ERRORS = frozenset({500, 502, 503, 504})


class Connection(GitHubCore[Any]):
    """githubkit's core, with one HTTP client for all tasks.

    githubkit keeps its client in a context variable, so tasks that begin elsewhere would each open
    their own. Responses are not cached: a chat asks for what is true now.

    Args:
        settings: Which GitHub, as whom.
        sends: For changes: each request goes out once, to the address that is given and no other.
    """

    def __init__(self, settings: GitHubSettings, *, sends: bool = False) -> None:
        token = settings.token.get_secret_value() if settings.token else None
        super().__init__(
            token,
            base_url=settings.api_url,
            user_agent="platform-engineer",
            timeout=settings.timeout_seconds,
            trust_env=not is_loopback(settings.api_url),
            http_cache=False,
            follow_redirects=not sends,
            auto_retry=False if sends else _Retry(settings.max_retries),
        )
        self._shared: httpx.AsyncClient | None = None

    @asynccontextmanager
    async def get_async_client(self) -> AsyncGenerator[httpx.AsyncClient, None]:
        """The shared client, opened on first use."""
        if self._shared is None:
            self._shared = await self._create_async_client()
        yield self._shared

    def _extract_retry_after(self, response: Response[Any]) -> timedelta:
        """How long GitHub, or a proxy before it, asks to wait: githubkit knows whole seconds only."""
        try:
            return super()._extract_retry_after(response)
        except (ValueError, OverflowError):
            return _wait_of(response.headers.get("retry-after", ""))

    async def close(self) -> None:
        """Close the shared client."""
        client, self._shared = self._shared, None
        if client is not None:
            await client.aclose()


def _wait_of(told: str) -> timedelta:
    """The wait that a `Retry-After` tells as a date or with a fraction; as long as githubkit takes where it tells none."""
    with suppress(ValueError, OverflowError):
        return timedelta(seconds=max(0, math.ceil(float(told))))
    with suppress(ValueError, TypeError, OverflowError):
        return max(parsedate_to_datetime(told) - datetime.now(UTC), timedelta())
    return _UNTOLD


class _Retry:
    """Which failures are tried again: refused and broken connections, server errors, short waits."""

    def __init__(self, retries: int) -> None:
        self._retries = retries

    def __call__(self, error: GitHubException, count: int) -> RetryOption:
        if count >= self._retries:
            return RetryOption(False)
        if isinstance(error, SecondaryRateLimitExceeded) and error.retry_after <= LONGEST_PAUSE:
            return RetryOption(True, error.retry_after)
        return RetryOption(True, RETRY_PAUSE * 2**count) if _may_pass(error) else RetryOption(False)


def _may_pass(error: GitHubException) -> bool:
    if isinstance(error, RateLimitExceeded | RequestTimeout):
        return False
    if isinstance(error, RequestFailed):
        return error.response.status_code in _SERVER_ERRORS
    return isinstance(error, RequestError) and isinstance(error.exc, httpx.TransportError)

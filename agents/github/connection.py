"""githubkit on one shared HTTP client. Imported at the first request, since it is heavy."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
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
from utils.net.bounded import LARGEST_BODY, MIB, Bound
from utils.net.loopback import is_loopback
from utils.net.retry_after import asked_wait
from utils.net.web_client import disable_cookies
from utils.timing import backoff

LARGEST_TEXT = 64 * MIB
"""Bytes of a text that is read line by line: more than any reader takes, each of which stops at a limit of its own."""
RETRY_PAUSE = 0.2
"""Longest pause before the first retry in seconds; it doubles each time."""
LONGEST_PAUSE = timedelta(seconds=3)
"""Longest wait requested by GitHub that is waited for; a longer one is reported to the user."""
_UNTOLD = timedelta(seconds=60)
"""The wait when GitHub gives none, as its documentation advises."""
_SERVER_ERRORS = frozenset({500, 502, 503, 504})


class Connection(GitHubCore[Any]):
    """githubkit's core, with one HTTP client for all tasks.

    githubkit keeps its client in a context variable, so tasks that start elsewhere would each open
    their own. Responses are not cached: a chat needs current data.

    Args:
        settings: Address and token of GitHub.
        sends: For changes: each request is sent once, without retries or redirects.
        token: Token of a user, instead of the configured one.
        most: Bytes of one answer, unpacked.
    """

    def __init__(
        self, settings: GitHubSettings, *, sends: bool = False, token: str = "", most: int = LARGEST_BODY
    ) -> None:
        super().__init__(
            token or _shared(settings),
            base_url=settings.api_url,
            user_agent="platform-engineer",
            timeout=settings.timeout_seconds,
            trust_env=not is_loopback(settings.api_url),
            http_cache=False,
            follow_redirects=not sends,
            async_event_hooks=Bound(most).hooks(),
            auto_retry=False if sends else _Retry(settings.max_retries),
        )
        self._shared: httpx.AsyncClient | None = None

    @asynccontextmanager
    async def get_async_client(self) -> AsyncGenerator[httpx.AsyncClient, None]:
        """The shared client, opened on first use."""
        if self._shared is None:
            self._shared = await self._create_async_client()
        yield self._shared

    async def _create_async_client(self) -> httpx.AsyncClient:
        client = await super()._create_async_client()
        disable_cookies(client.cookies.jar)
        return client

    def _extract_retry_after(self, response: Response[Any]) -> timedelta:
        """The wait that GitHub or a proxy asks for; githubkit parses whole seconds only."""
        try:
            return super()._extract_retry_after(response)
        except (ValueError, OverflowError):
            return _wait_of(response.headers.get("retry-after", ""))

    async def close(self) -> None:
        """Close the shared client."""
        client, self._shared = self._shared, None
        if client is not None:
            await client.aclose()


def _shared(settings: GitHubSettings) -> Any:
    """What all users read with: an installation of a GitHub App, the token, or nothing."""
    if settings.app_id is not None:
        from agents.github.app import installation

        return installation(settings)
    return settings.token.get_secret_value() if settings.token else None


def _wait_of(value: str) -> timedelta:
    """The wait of a `Retry-After` with a date or a fraction; githubkit's own default if there is none."""
    seconds = asked_wait(value)
    with suppress(OverflowError):
        return _UNTOLD if seconds is None else timedelta(seconds=math.ceil(seconds))
    return _UNTOLD


class _Retry:
    """Decides which failures are retried: failed connections, server errors, short waits."""

    def __init__(self, retries: int) -> None:
        self._retries = retries

    def __call__(self, error: GitHubException, count: int) -> RetryOption:
        if count >= self._retries:
            return RetryOption(False)
        if isinstance(error, SecondaryRateLimitExceeded) and error.retry_after <= LONGEST_PAUSE:
            return RetryOption(True, error.retry_after)
        pause = timedelta(seconds=backoff(count + 1, first=RETRY_PAUSE))
        return RetryOption(True, pause) if _may_pass(error) else RetryOption(False)


def _may_pass(error: GitHubException) -> bool:
    if isinstance(error, RateLimitExceeded | RequestTimeout):
        return False
    if isinstance(error, RequestFailed):
        return error.response.status_code in _SERVER_ERRORS
    return isinstance(error, RequestError) and isinstance(error.exc, httpx.TransportError)

"""Concurrency limit and circuit breaker for one remote agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import structlog

from utils.a2a_common.client.transport.sentences import SUB_AGENT_BUSY, SUB_AGENT_DOWN
from utils.a2a_common.client.transport.unclear import is_away
from utils.errors import DelegationFailed, SubAgentUnavailable
from utils.observability.metrics import set_breaker
from utils.resilience.breaker import Breaker

log = structlog.get_logger(__name__)

MOST_AT_ONCE = 24
"""Remote calls at one agent at a time; its client has 32 connections, so that looks and cancels get through."""

_TIMED_OUT = "deadline_exceeded"


class SubAgentDown(SubAgentUnavailable):
    """A sub-agent could not be reached several times, and is not called now."""

    advice = "Go on without it, and say which part could not be done."


OnFailure = Callable[[str], None]


def _ignore(_name: str) -> None:
    """Default `OnFailure`: does nothing."""


def _never() -> bool:
    """Default `reachable`: no look has found the agent up."""
    return False


class Bulkhead:
    """Bulkhead and circuit breaker of one agent: a slow or dead one costs the others nothing.

    A call that ends at its deadline counts as a failure only while the agent cannot be reached: the deadline belongs to
    the one who called, and others may have more time. An agent that answers that it is busy has not failed.

    Args:
        name: Our name for the agent.
        breaker: Its circuit breaker.
        most: Calls at a time.
        on_failure: Called with the agent's name whenever it could not be reached or did not answer in time.
        reachable: Whether the agent was seen up at the last look.
    """

    def __init__(
        self,
        name: str,
        breaker: Breaker | None = None,
        most: int = MOST_AT_ONCE,
        *,
        on_failure: OnFailure = _ignore,
        reachable: Callable[[], bool] = _never,
    ) -> None:
        self._name = name
        self._reachable = reachable
        self._on_failure = on_failure
        self._breaker = breaker or Breaker()
        self._places = asyncio.Semaphore(most)
        self._times_up = 0

    def try_now(self) -> None:
        """Record that the agent, which was down, is up again."""
        self._times_up += 1
        self._breaker.try_now()
        self._show()

    @asynccontextmanager
    async def slot(self, seconds: float) -> AsyncIterator[None]:
        """Room for one call.

        Raises:
            SubAgentDown: The agent is down.
            SubAgentUnavailable: It had no room for so many seconds.
        """
        try:
            async with asyncio.timeout(
                seconds
            ):  # a canceled `wait_for` may get a place and lose the cancellation
                await self._places.acquire()
        except TimeoutError as error:
            raise SubAgentUnavailable(SUB_AGENT_BUSY.format(agent=self._name)) from error
        try:
            if not self._breaker.admits():
                raise SubAgentDown(self._refusal())
            self._show()
            async with self._watched():
                yield
        finally:
            self._show()
            self._places.release()

    @asynccontextmanager
    async def _watched(self) -> AsyncIterator[None]:
        began = self._times_up
        try:
            yield
        except DelegationFailed as error:
            if error.code == _TIMED_OUT and self._reachable():
                self._breaker.gave_up()
                self._on_failure(self._name)
            elif is_away(error) or error.code == _TIMED_OUT:
                self._failed(began)
            else:
                self._breaker.succeeded()
            raise
        except BaseException:
            self._breaker.gave_up()
            raise
        else:
            self._breaker.succeeded()

    def _failed(self, began: int) -> None:
        """Count a failure, unless the call began before the agent was last seen up: such a failure proves nothing about its state now."""
        if began == self._times_up:
            self._breaker.failed()
            self._on_failure(self._name)
        else:
            self._breaker.gave_up()
        log.warning("sub_agent.failing", agent=self._name, open=self._breaker.is_open)

    def _show(self) -> None:
        set_breaker(self._name, self._breaker.state)

    def _refusal(self) -> str:
        since = datetime.now(UTC) - timedelta(seconds=self._breaker.down_seconds)
        again = max(1, round(self._breaker.wait_seconds))
        return SUB_AGENT_DOWN.format(agent=self._name, since=since, seconds=again)

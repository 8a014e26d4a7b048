"""Background work that runs as long as the process and survives errors.

Such a task is never awaited, so an error would end it silently. Here errors are logged and counted, and the work is
tried again after a growing pause.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

import structlog

from utils.cancellation import Cancellation
from utils.observability import catalogue
from utils.observability.metrics import count
from utils.timing import LONGEST_WAIT, backoff

log = structlog.get_logger(__name__)

Item = TypeVar("Item")

Step = Callable[[], Awaitable[float | None]]
"""One step of the work: returns the seconds until the next one, or `None` if the work is done."""

Errors = tuple[type[Exception], ...]

FIRST_WAIT = 1.0
"""Seconds after the first failure in a row."""


async def supervised(
    name: str,
    step: Step,
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    *,
    after: float | None = None,
    foreseen: Errors = (),
    first: float = FIRST_WAIT,
    longest: float = LONGEST_WAIT,
    settles: float | None = None,
) -> None:
    """Run the work step by step, until a step returns `None` or this task is canceled.

    Args:
        name: Its name in the log and the metrics; letters, digits, dots and underscores.
        step: One step.
        pause: Waits the given seconds, or less if there is a reason to go on.
        after: Seconds before the first step.
        foreseen: Expected errors, which are logged without a traceback.
        first: Seconds to wait after the first failure in a row.
        longest: Most seconds to wait after a failure.
        settles: Seconds after which a running step counts as working, for steps that run as long as there is no error.
    """
    canceled, trouble = Cancellation(), _Trouble(name, foreseen)
    if after is not None:
        await pause(after)
    try:
        while True:
            try:
                with trouble.ending_after(settles):
                    seconds = await step()
            except Exception as error:  # noqa: BLE001 - the task is never awaited: it goes on
                canceled.check()
                seconds = backoff(trouble.failed + 1, first=first, longest=longest)
                trouble.note(error, seconds)
            else:
                canceled.check()
                trouble.end()
            if seconds is None:
                return
            await pause(seconds)
    finally:
        trouble.end()


async def followed(
    name: str,
    source: Callable[[], AsyncGenerator[Item, None]],
    take: Callable[[Item], Awaitable[object]],
    *,
    foreseen: Errors = (),
) -> None:
    """Process each item of an endless source. If the source or `take` fails, a new source is opened after a pause.

    Args:
        name: Its name in the log and the metrics.
        source: Opens the source; the first items of a new one must make up for what was missed.
        take: Processes an item.
        foreseen: Expected errors, which are logged without a traceback.
    """
    feed = _Feed(source, take)
    try:
        await supervised(name, feed.step, foreseen=foreseen)
    finally:
        await feed.close()


class _Feed(Generic[Item]):
    """A source that is opened again after it has failed."""

    def __init__(
        self, source: Callable[[], AsyncGenerator[Item, None]], take: Callable[[Item], Awaitable[object]]
    ) -> None:
        self._source = source
        self._take = take
        self._open: AsyncGenerator[Item, None] | None = None

    async def step(self) -> float | None:
        """Process the next item; returns `None` if the source has ended."""
        if self._open is None:
            self._open = self._source()
        try:
            await self._take(await anext(self._open))
        except StopAsyncIteration:
            return None
        except BaseException:
            await self.close()
            raise
        return 0.0

    async def close(self) -> None:
        """Close the source. Safe to call twice."""
        source, self._open = self._open, None
        if source is not None:
            await source.aclose()


class _Trouble:
    """The failures in a row of one loop, for the log and the metrics."""

    def __init__(self, name: str, foreseen: Errors) -> None:
        self._name = name
        self._foreseen = foreseen
        self.failed = 0

    def note(self, error: Exception, seconds: float) -> None:
        """Record that the last step failed; the next one follows in `seconds`."""
        if not self.failed:
            count(catalogue.BACKGROUND_FAILING, loop=self._name)
        self.failed += 1
        count(catalogue.BACKGROUND_FAILURES, loop=self._name)
        fields = {"loop": self._name, "kind": type(error).__name__, "tries": self.failed, "seconds": seconds}
        if isinstance(error, self._foreseen):
            log.warning("background.failed", **fields)
        else:
            log.error("background.failed", **fields, exc_info=error)

    @contextmanager
    def ending_after(self, seconds: float | None) -> Iterator[None]:
        """Reset the failures once the block has run for `seconds`."""
        expiry = seconds is not None and asyncio.get_running_loop().call_later(seconds, self.end)
        try:
            yield
        finally:
            if expiry:
                expiry.cancel()

    def end(self) -> None:
        """Reset the failures: the last step succeeded, or the loop ends."""
        if self.failed:
            count(catalogue.BACKGROUND_FAILING, -1, loop=self._name)
        self.failed = 0


class ItemErrors:
    """Collects errors of the items of a step, so that one failed item does not stop the others; the step fails at its end."""

    def __init__(self) -> None:
        self._first: Exception | None = None

    @contextmanager
    def collect(self, loop: str, **about: str) -> Iterator[None]:
        """Process one item of a loop; an error is logged and kept."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - raised by `raise_first`
            log.warning("background.item_failed", loop=loop, kind=type(error).__name__, **about)
            self._first = self._first or error

    def raise_first(self) -> None:
        """End the step with the first error, if there is one.

        Raises:
            Exception: The first error of an item.
        """
        if self._first is not None:
            raise self._first

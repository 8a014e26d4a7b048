"""Work that goes on in the background for as long as the process lives, and that no error ends.

Nobody awaits such a task, so that an error in it would end it for good without a word. Here what failed is logged and
counted, and tried again after a pause that grows.
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

Look = Callable[[], Awaitable[float | None]]
"""One step of the work: returns the seconds until the next one, or `None` where there is nothing more to do."""

Errors = tuple[type[Exception], ...]

FIRST_WAIT = 1.0
"""Seconds after the first failure in a row."""


async def supervised(
    name: str,
    look: Look,
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    *,
    after: float | None = None,
    foreseen: Errors = (),
    first: float = FIRST_WAIT,
    longest: float = LONGEST_WAIT,
    settles: float | None = None,
) -> None:
    """Do the work step by step, until it says that it is done or this task is canceled.

    Args:
        name: What it is called in the log and in the metrics; letters, digits, dots and underscores.
        look: One step.
        pause: Waits so many seconds, or until there is a reason to go on.
        after: Seconds before the first step.
        foreseen: Errors that are logged without a traceback.
        first: Seconds after the first failure in a row.
        longest: Most seconds after a failure.
        settles: Seconds after which a step that still runs counts as one that works, for those that last as long as all is well.
    """
    canceled, trouble = Cancellation(), _Trouble(name, foreseen)
    if after is not None:
        await pause(after)
    try:
        while True:
            try:
                with trouble.ending_after(settles):
                    seconds = await look()
            except Exception as error:  # noqa: BLE001 - nobody awaits this task: it goes on
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
    """Take each item of an endless source. Where the source or `take` fails, begin with a new source after a pause.

    Args:
        name: What it is called in the log and in the metrics.
        source: Makes the source; what a new one says first must make up for what was missed.
        take: Takes an item.
        foreseen: Errors that are logged without a traceback.
    """
    feed = _Feed(source, take)
    try:
        await supervised(name, feed.step, foreseen=foreseen)
    finally:
        await feed.close()


class _Feed(Generic[Item]):
    """A source that is made again when it has failed."""

    def __init__(
        self, source: Callable[[], AsyncGenerator[Item, None]], take: Callable[[Item], Awaitable[object]]
    ) -> None:
        self._source = source
        self._take = take
        self._open: AsyncGenerator[Item, None] | None = None

    async def step(self) -> float | None:
        """Take the next item; `None` where the source has ended."""
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
    """The failures in a row of one loop, as the log and the metrics tell them."""

    def __init__(self, name: str, foreseen: Errors) -> None:
        self._name = name
        self._foreseen = foreseen
        self.failed = 0

    def note(self, error: Exception, seconds: float) -> None:
        """The last step failed; the next one follows in so many seconds."""
        if not self.failed:
            count(catalogue.BACKGROUND_FAILING, loop=self._name)
        self.failed += 1
        count(catalogue.BACKGROUND_FAILURES, loop=self._name)
        told = {"loop": self._name, "kind": type(error).__name__, "tries": self.failed, "seconds": seconds}
        if isinstance(error, self._foreseen):
            log.warning("background.failed", **told)
        else:
            log.error("background.failed", **told, exc_info=error)

    @contextmanager
    def ending_after(self, seconds: float | None) -> Iterator[None]:
        """Take the trouble for over where the block lasts so long."""
        over = seconds is not None and asyncio.get_running_loop().call_later(seconds, self.end)
        try:
            yield
        finally:
            if over:
                over.cancel()

    def end(self) -> None:
        """The last step did not fail, or there will be none."""
        if self.failed:
            count(catalogue.BACKGROUND_FAILING, -1, loop=self._name)
        self.failed = 0


class Passed:
    """Lets a step go on where one of its items fails, so that this keeps no other back; the step fails at its end."""

    def __init__(self) -> None:
        self._first: Exception | None = None

    @contextmanager
    def over(self, loop: str, **about: str) -> Iterator[None]:
        """Work on one item of a loop; where that fails, log it."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - raised by `tell`
            log.warning("background.item_failed", loop=loop, kind=type(error).__name__, **about)
            self._first = self._first or error

    def tell(self) -> None:
        """End the step.

        Raises:
            Exception: The first error of an item.
        """
        if self._first is not None:
            raise self._first

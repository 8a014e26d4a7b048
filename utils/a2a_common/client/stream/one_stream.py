"""Reading the stream of one task: when to stop, which elements belong to the task, and which state an element reports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from utils.a2a_common.client.stream.decode import addressed, state_of
from utils.a2a_common.client.stream.events import ENDED_STATES, SETTLED_STATES, WAITING_STATES, PeerEvent
from utils.a2a_common.client.transport.errors import PeerError
from utils.errors import PeerLimitExceeded, ProtocolViolation

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import StreamResponse

    from utils.a2a_common.client.transport.connection import Connection

_LAST_SECONDS = 0.5
"""How long a stream is drained after the end of its task."""


async def read_out(responses: AsyncGenerator[StreamResponse, None]) -> None:
    """Drain the stream for at most `_LAST_SECONDS`, so that its connection can be reused. Content and errors are ignored."""
    with suppress(PeerError, PeerLimitExceeded, ProtocolViolation, TimeoutError):
        async with asyncio.timeout(_LAST_SECONDS):
            async for _ in responses:
                pass


async def until_silent(
    events: AsyncGenerator[PeerEvent, None], seconds: float
) -> AsyncGenerator[PeerEvent, None]:
    """The events, until none has come for `seconds`."""
    with suppress(StopAsyncIteration, TimeoutError):
        while True:
            async with asyncio.timeout(seconds):
                event = await anext(events)
            yield event


async def until_over(
    events: AsyncGenerator[PeerEvent, None], is_over: Callable[[], Awaitable[bool]], seconds: float
) -> AsyncGenerator[PeerEvent, None]:
    """The events, until none has come for `seconds` and `is_over` reports that the task sends nothing more; then close them.

    A connection that died silently, as behind a proxy or on a machine that slept, brings neither events nor an end.
    Silence alone ends no stream: a task may be silent for long.
    """
    watch = _Watch(is_over, seconds)
    watching = asyncio.create_task(watch.run())
    try:
        while True:
            try:
                async with watch.reading():
                    event = await anext(events)
            except StopAsyncIteration:
                return
            except TimeoutError:
                if watch.over:
                    return
                raise
            yield event
    finally:
        watching.cancel()
        await asyncio.wait({watching})
        await events.aclose()


class _Watch:
    """Asks while a stream is silent whether its task is over, and ends the reading then."""

    def __init__(self, is_over: Callable[[], Awaitable[bool]], seconds: float) -> None:
        self._is_over, self._seconds = is_over, seconds
        self._read: asyncio.Timeout | None = None
        self.over = False

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """While the next event is waited for."""
        try:
            async with asyncio.timeout(None) as self._read:
                yield
        finally:
            self._read = None

    async def run(self) -> None:
        while not self.over:
            before = self._read
            await asyncio.sleep(self._seconds)
            if before is None or self._read is not before:
                continue
            if await self._is_over() and self._read is before:
                self.over = True
                before.reschedule(asyncio.get_running_loop().time())


async def shows_the_end(connection: Connection, task_id: str, *, reply: bool, seconds: float) -> bool:
    """Whether the agent shows within `seconds` that its task ended, or waits for its user; never where it does not answer.

    After a `reply` a task that waits may not have taken it yet.
    """
    if not task_id:
        return False
    with suppress(PeerError, PeerLimitExceeded, ProtocolViolation, TimeoutError):
        async with asyncio.timeout(seconds):
            task = await connection.get_task(task_id)
        return state_of(task.status) in (ENDED_STATES if reply else SETTLED_STATES)
    return False


def waits(response: StreamResponse) -> bool:
    """Whether it is a snapshot of a task that waits for its user."""
    return response.HasField("task") and state_of(response.task.status) in WAITING_STATES


def settles(response: StreamResponse) -> bool:
    """Whether it reports that its task ended or waits for its user."""
    match response.WhichOneof("payload"):
        case "task":
            return state_of(response.task.status) in SETTLED_STATES
        case "status_update":
            return state_of(response.status_update.status) in SETTLED_STATES
        case _:
            return False


class Own:
    """Filters what belongs to the task of a stream: its own task and context are the first that it names.

    Args:
        task_id: The task, where it is known before.

    Attributes:
        task_id: The task, once it is known.
    """

    def __init__(self, task_id: str) -> None:
        self.task_id, self._context_id = task_id, ""

    def has(self, response: StreamResponse) -> bool:
        """Whether an element of the stream belongs to it."""
        task_id, context_id = addressed(response)
        if (task_id or self.task_id) != (self.task_id or task_id):
            return False
        if (context_id or self._context_id) != (self._context_id or context_id):
            return False
        self.task_id, self._context_id = task_id or self.task_id, context_id or self._context_id
        return True

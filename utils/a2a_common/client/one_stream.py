"""Reading a stream of one task: until when it is read, and what it says of waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import TYPE_CHECKING

from utils.a2a_common.client.decode import state_of
from utils.a2a_common.client.events import WAITING_STATES, PeerEvent
from utils.a2a_common.client.peer_errors import PeerError
from utils.errors import PeerLimitExceeded, ProtocolViolation

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import StreamResponse

_LAST_SECONDS = 0.5
"""How long a stream is read on after the end of its task, so that its connection can be used again."""


async def read_out(responses: AsyncGenerator[StreamResponse, None]) -> None:
    """Read a stream to its end where that comes soon; what it holds, and how it breaks, is of no interest any more."""
    with suppress(PeerError, PeerLimitExceeded, ProtocolViolation, TimeoutError):
        async with asyncio.timeout(_LAST_SECONDS):
            async for _ in responses:
                pass


async def until_silent(
    events: AsyncGenerator[PeerEvent, None], seconds: float
) -> AsyncGenerator[PeerEvent, None]:
    """The events until none came for so long."""
    with suppress(StopAsyncIteration, TimeoutError):
        while True:
            async with asyncio.timeout(seconds):
                event = await anext(events)
            yield event


def waits(response: StreamResponse) -> bool:
    """Whether it is a snapshot of a task that waits for its user."""
    return response.HasField("task") and state_of(response.task.status) in WAITING_STATES

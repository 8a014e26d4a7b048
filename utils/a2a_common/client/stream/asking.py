"""Repeats a request that is safe to repeat, until it is answered, refused, or answered twice with something unreadable."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from utils.a2a_common.client.stream.events import AgentAway
from utils.a2a_common.client.transport.errors import ConnectionLost, UnusableAnswer

if TYPE_CHECKING:
    from utils.a2a_common.client.stream.patience import Patience

Answer = TypeVar("Answer")

BROKEN = (ConnectionLost, UnusableAnswer)
"""Errors that may not occur again at the next try."""


async def retried(
    ask: Callable[[], Awaitable[Answer]], patience: Patience
) -> AsyncGenerator[Answer | AgentAway, None]:
    """Yield the answer to an idempotent request, and before it `AgentAway` for each wait while the agent is unreachable.

    An unreadable answer may be a gateway's page during a restart, so that it is an error only the second time in a row.

    Raises:
        PeerError: The agent was out of reach for too long, refused to answer, or twice gave an answer that cannot be read.
    """
    clock = asyncio.get_running_loop().time
    give_up, attempt, unread = clock() + patience.away_seconds, 0, False
    while True:
        try:
            yield await ask()
        except BROKEN as error:
            attempt += 1
            seconds = patience.wait(attempt)
            answered = isinstance(error, UnusableAnswer) and error.answered
            if (answered and unread) or clock() + seconds >= give_up:
                raise
            unread = answered
        else:
            return
        if not unread:
            yield AgentAway(seconds, busy=False)
        await asyncio.sleep(seconds)

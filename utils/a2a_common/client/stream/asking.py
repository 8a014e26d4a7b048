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
"""What may be gone at the next try."""


async def asked(
    ask: Callable[[], Awaitable[Answer]], patience: Patience
) -> AsyncGenerator[Answer | AgentAway, None]:
    """The answer to a question that may be repeated, after each wait for an agent that cannot be reached.

    What came and cannot be read may be a gateway's page during a restart; the second time it is what the agent says.

    Raises:
        PeerError: The agent was out of reach for too long, refused to answer, or its answer could not be read twice.
    """
    clock = asyncio.get_running_loop().time
    give_up, attempt, unread = clock() + patience.away_seconds, 0, False
    while True:
        try:
            yield await ask()
        except BROKEN as error:
            attempt += 1
            seconds = patience.wait(attempt)
            heard = isinstance(error, UnusableAnswer) and error.heard
            if (heard and unread) or clock() + seconds >= give_up:
                raise
            unread = heard
        else:
            return
        if not unread:
            yield AgentAway(seconds, busy=False)
        await asyncio.sleep(seconds)

"""One turn with an agent: a message is sent once, and its task is followed until it is settled.

A stream that ends proves nothing (a slow reader is dropped without a word), so the end without a
settled state leads to GetTask and SubscribeToTask, never to a second message.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any

from a2a.types import Task

from multi_agents.cli.errors import AgentRefused, ConnectionLost
from multi_agents.cli.peer.connection import Peer
from multi_agents.cli.peer.decode import decode_task
from multi_agents.cli.peer.events import SETTLED_STATES, MessageSeen, PeerEvent, StatusSeen, TaskSeen

QUIET_SECONDS = 120.0
"""How long a task whose stream broke may show no change before it is given up."""

LOOK_SECONDS = 10.0
"""How long a renewed stream may be silent before the task itself is looked at."""

PAUSES = (0.2, 0.5, 1.0, 2.0, 4.0)
"""Seconds between attempts to reach an agent again."""


@dataclass(slots=True)
class Progress:
    """What is known of a turn: enough to follow, to cancel and to know that it is over."""

    task_id: str = ""
    settled: bool = False

    def note(self, event: PeerEvent) -> None:
        """Take in one event."""
        match event:
            case TaskSeen() | StatusSeen():
                self.task_id = event.task_id or self.task_id
                self.settled = event.state in SETTLED_STATES
            case MessageSeen():
                self.settled = True
            case _:
                pass


async def run_turn(
    peer: Peer, text: str, *, context_id: str, task_id: str = "", data: Mapping[str, Any] | None = None
) -> AsyncGenerator[PeerEvent, None]:
    """Send `text` and yield everything until the task is settled.

    Raises:
        ConnectionLost: The agent cannot be reached any more.
        AgentRefused: The agent refused, or stopped without an end.
    """
    progress = Progress(task_id)
    try:
        async with aclosing(peer.send(text, context_id=context_id, task_id=task_id, data=data)) as stream:
            async for event in stream:
                progress.note(event)
                yield event
    except ConnectionLost:
        if not progress.task_id:
            raise
    if not progress.settled:
        async with aclosing(follow(peer, progress.task_id)) as rest:
            async for event in rest:
                yield event


async def follow(
    peer: Peer, task_id: str, *, quiet_seconds: float = QUIET_SECONDS
) -> AsyncGenerator[PeerEvent, None]:
    """Yield a task's snapshot and what follows, over as many streams as it takes, until it is settled."""
    if not task_id:
        raise AgentRefused(f"The agent at {peer.url} ended its answer without a task or a message.")
    progress, clock = Progress(task_id), asyncio.get_running_loop()
    seen, deadline = "", clock.time() + quiet_seconds
    while True:
        task = await _reach(peer, task_id)
        if (now := task.SerializeToString(deterministic=True).hex()) != seen:
            seen, deadline = now, clock.time() + quiet_seconds
            for event in decode_task(task):
                progress.note(event)
                yield event
        if progress.settled:
            return
        if clock.time() >= deadline:
            raise AgentRefused(f"The agent stopped reporting, but task {task_id} is not finished.")
        async with aclosing(_renewed(peer, task_id, min(LOOK_SECONDS, quiet_seconds))) as stream:
            async for event in stream:
                progress.note(event)
                yield event
        if progress.settled:
            return


async def _renewed(peer: Peer, task_id: str, silence: float) -> AsyncGenerator[PeerEvent, None]:
    """A renewed stream, which opens with a snapshot; ends when it breaks, ends or falls silent."""
    if peer.streams:
        async with aclosing(peer.subscribe(task_id)) as stream:
            with suppress(StopAsyncIteration, TimeoutError, ConnectionLost, AgentRefused):
                while True:
                    async with asyncio.timeout(silence):
                        event = await anext(stream)
                    yield event
    await asyncio.sleep(PAUSES[1])


async def _reach(peer: Peer, task_id: str) -> Task:
    for pause in PAUSES:
        try:
            return await peer.get_task(task_id)
        except ConnectionLost:
            await asyncio.sleep(pause)
    return await peer.get_task(task_id)

"""Runs one turn to its end and shows it, with Ctrl-C turned into CancelTask on the wire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TypeVar

from multi_agents.cli.chat.interrupts import Interrupts, watch_interrupts
from multi_agents.cli.console import say
from multi_agents.cli.errors import CliError
from multi_agents.cli.exit_codes import ExitCode, exit_code_of
from multi_agents.cli.peer.connection import Peer, plain_errors
from multi_agents.cli.view.sinks import Sink
from multi_agents.cli.view.state import TurnView
from utils.a2a_common.client.events import PeerEvent
from utils.a2a_common.client.task_view import TaskView

T = TypeVar("T")

CANCEL_SECONDS = 10.0
"""How long a canceled task may take to say so."""

IMPATIENT_SECONDS = 2.0
"""How long the agent may still take to hear of it when the person pressed Ctrl-C twice."""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """A turn as it ended. `quit` tells that the person pressed Ctrl-C twice."""

    view: TurnView
    interrupted: bool = False
    quit: bool = False

    @property
    def exit_code(self) -> ExitCode:
        """What a process that ran only this turn ends with."""
        return ExitCode.INTERRUPTED if self.interrupted else exit_code_of(self.view.state)


async def drive(peer: Peer, events: AsyncIterator[PeerEvent], sink: Sink, *, task_id: str = "") -> TurnResult:
    """Show `events` until they end or the person stops them.

    `task_id` is the task they belong to, where it is known before the first event.

    Raises:
        CliError: The agent refused or was lost, and no interrupt was the cause.
    """
    view = TurnView(TaskView(task_id))
    with plain_errors(peer.url), watch_interrupts() as interrupts, sink:
        turn = asyncio.create_task(_consume(events, sink, view))
        if not await _either(turn, interrupts.first):
            await _stop(peer, turn, interrupts, view)
            return TurnResult(view, interrupted=True, quit=interrupts.second.is_set())
        await turn
    return TurnResult(view)


async def _consume(events: AsyncIterator[PeerEvent], sink: Sink, view: TurnView) -> None:
    async for event in events:
        view.apply(event)
        sink.show(event, view)


async def _either(turn: asyncio.Task[T], event: asyncio.Event, limit: float | None = None) -> bool:
    """Wait for the turn or the event; whether the turn ended."""
    waiter = asyncio.create_task(event.wait())
    try:
        await asyncio.wait({turn, waiter}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        return turn.done()
    finally:
        waiter.cancel()
        if not turn.done() and not event.is_set() and limit is None:
            turn.cancel()  # the wait itself was canceled: the turn has nobody left who waits for it


async def _stop(peer: Peer, turn: asyncio.Task[None], interrupts: Interrupts, view: TurnView) -> None:
    """Cancel the task at the agent, let its last events arrive, and end the turn in any case."""
    cancel = asyncio.create_task(_cancel(peer, view.task.task_id))
    try:
        if await _either(cancel, interrupts.second, CANCEL_SECONDS) and cancel.result():
            await _either(turn, interrupts.second, CANCEL_SECONDS)
        elif not cancel.done():
            await asyncio.wait({cancel}, timeout=IMPATIENT_SECONDS)
    finally:
        for task in (cancel, turn):
            task.cancel()
        await asyncio.gather(cancel, turn, return_exceptions=True)


async def _cancel(peer: Peer, task_id: str) -> bool:
    """Whether the agent agreed, so that the end of the turn is to be expected."""
    if not task_id:
        say("Stopped before the agent named its task.")
        return False
    try:
        with plain_errors(peer.url):
            await peer.connection.cancel(task_id)
    except CliError as error:
        say(error.message)
        return False
    return True

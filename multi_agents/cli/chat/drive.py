"""Runs one turn to its end and shows it, with Ctrl-C turned into CancelTask on the wire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

from multi_agents.cli.chat.interrupts import Interrupts, watch_interrupts
from multi_agents.cli.console import say
from multi_agents.cli.errors import AgentSilent, CliError
from multi_agents.cli.exit_codes import ExitCode, exit_code_of
from multi_agents.cli.peer.connection import Peer, plain_errors
from multi_agents.cli.view.sinks import Sink
from multi_agents.cli.view.state import TurnView
from utils.a2a_common.client.delegation.task_view import TaskView
from utils.a2a_common.client.stream.decode import decode_task
from utils.a2a_common.client.stream.events import PeerEvent

T = TypeVar("T")

CANCEL_SECONDS = 10.0
"""How long a canceled task may take to say so."""

IMPATIENT_SECONDS = 2.0
"""How long the agent may still take to hear of it when the person pressed Ctrl-C twice."""

SILENT_SECONDS = 10.0
"""How long an agent says nothing until the person is told so."""

STOPPED_SECONDS = 1.0
"""How long a Ctrl-C may take until the person is told what is waited for."""

LOOK_SECONDS = 1.0
"""Between two looks at how long the agent has said nothing."""

NAMELESS = (
    f"The agent has not named the task yet, which it needs to be canceled: waiting up to {CANCEL_SECONDS + IMPATIENT_SECONDS:.0f} s "
    "for that. Ctrl-C again ends the wait."
)
UNCONFIRMED = (
    f"The agent was asked to cancel the task: waiting up to {CANCEL_SECONDS:.0f} s until it has. "
    "Ctrl-C again ends the wait."
)


@dataclass(frozen=True, slots=True)
class TurnResult:
    """A turn as it ended. `quit` tells that the person pressed Ctrl-C twice."""

    view: TurnView
    interrupted: bool = False
    quit: bool = False

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of a process that ran only this turn."""
        return ExitCode.INTERRUPTED if self.interrupted else exit_code_of(self.view.state)


@dataclass(slots=True)
class _Turn:
    """A turn under way.

    Attributes:
        view: What was heard of it.
        named: Is set once its task is known, or when it is certain that it never will be.
        heard_at: When the last event came, or the turn began, on the clock of the event loop.
        ended_before: All that its task says, where that had ended when it should be canceled, although the stream had not told so.
    """

    view: TurnView
    named: asyncio.Event = field(default_factory=asyncio.Event)
    ended_before: Sequence[PeerEvent] = ()
    heard_at: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    async def consume(self, events: AsyncIterator[PeerEvent], sink: Sink) -> None:
        """Show the events until they end."""
        try:
            async for event in events:
                self.show(event, sink)
                if self.view.task.task_id:
                    self.named.set()
        finally:
            self.named.set()

    def show(self, event: PeerEvent, sink: Sink) -> None:
        """Take in one event and show it."""
        self.heard_at = asyncio.get_running_loop().time()
        self.view.apply(event)
        sink.show(event, self.view)

    async def tell_silence(self, sink: Sink, after: float) -> None:
        """Tell again and again how long the agent has said nothing, once that is `after` seconds; until that is too long."""
        clock, patience = asyncio.get_running_loop().time, self.view.patience
        while patience is None or clock() < self.heard_at + patience:
            await asyncio.sleep(min(after, LOOK_SECONDS))
            if (seconds := clock() - self.heard_at) >= after:
                sink.silent(seconds, self.view)


async def drive(
    peer: Peer,
    events: AsyncIterator[PeerEvent],
    sink: Sink,
    *,
    task_id: str = "",
    interrupts: Interrupts | None = None,
    silent_after: float = SILENT_SECONDS,
    patience: float | None = None,
) -> TurnResult:
    """Show `events` until they end or the person stops them.

    Args:
        peer: The agent that sends them.
        events: What it sends; nothing is sent to it before the first is asked for.
        sink: Shows them.
        task_id: The task that they belong to, where it is known before the first event.
        interrupts: The Ctrl-C of this turn, where somebody watches already; one that was pressed before the turn began
            means that it never begins.
        silent_after: Seconds without an event until the sink is told so.
        patience: Seconds without an event until nothing more is waited for; `None` for no limit.

    Raises:
        AgentSilent: No event came for `patience` seconds. The task is not canceled.
        CliError: The agent refused or was lost, and no interrupt was the cause.
    """
    view = TurnView(TaskView(task_id), ours=peer.connection.reports_activity, patience=patience)
    if interrupts is not None and interrupts.first.is_set():
        return TurnResult(view, interrupted=True)
    watching = watch_interrupts() if interrupts is None else nullcontext(interrupts)
    with plain_errors(peer.url), watching as pressed, sink:
        state = _Turn(view)
        if task_id:
            state.named.set()
        turn = asyncio.create_task(state.consume(events, sink))
        telling = asyncio.create_task(state.tell_silence(sink, silent_after))
        try:
            over = await _either(turn, pressed.first, patient=telling)
        finally:
            telling.cancel()
        if over:
            await turn
            return TurnResult(view)
        sink.silent(0, view)
        if not pressed.first.is_set():
            await asyncio.gather(turn, return_exceptions=True)
            await telling  # it may have failed, and then nobody knows how long the agent was silent
            raise AgentSilent(_given_up(peer, view))
        await _stop(peer, turn, pressed, state)
        if state.ended_before and not pressed.second.is_set():
            for event in state.ended_before:
                state.show(event, sink)
            return TurnResult(view)
        view.stopped = True
        return TurnResult(view, interrupted=True, quit=pressed.second.is_set())


def _given_up(peer: Peer, view: TurnView) -> str:
    """How long the agent said nothing, and how to look for the answer later."""
    task_id = view.task.task_id
    if not task_id:
        look = peer.command("tasks list")
        return f"The agent did not answer for {view.patience:.0f} s, and named no task; it may still run. `{look}` shows it."
    look = peer.command("tasks show", task_id)
    return (
        f"Nothing new came from the agent for {view.patience:.0f} s. Task {task_id} was not canceled and may still run. "
        f"`{look}` shows its state and its answer."
    )


async def _either(
    turn: asyncio.Task[T],
    event: asyncio.Event,
    limit: float | None = None,
    *,
    patient: asyncio.Task[None] | None = None,
) -> bool:
    """Wait for the turn or the event, for `limit` seconds or as long as `patient` runs; whether the turn ended."""
    waiter = asyncio.create_task(event.wait())
    ends: set[asyncio.Task[Any]] = {turn, waiter} if patient is None else {turn, waiter, patient}
    try:
        await asyncio.wait(ends, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        return turn.done()
    finally:
        waiter.cancel()
        if not turn.done() and not event.is_set() and limit is None:
            turn.cancel()  # the wait was given up or canceled: the turn has nobody left who waits for it


async def _stop(peer: Peer, turn: asyncio.Task[None], interrupts: Interrupts, state: _Turn) -> None:
    """Cancel the task at the agent, let its last events arrive, and end the turn in any case."""
    cancel = asyncio.create_task(_cancel(peer, state))
    telling = asyncio.create_task(_tell_wait(interrupts, state))
    try:
        if await _either(cancel, interrupts.second, CANCEL_SECONDS) and cancel.result():
            await _either(turn, interrupts.second, CANCEL_SECONDS)
        elif not cancel.done():
            await asyncio.wait({cancel}, timeout=IMPATIENT_SECONDS)
        if not state.named.is_set():
            say(
                f"The agent has not named the task; it may still run. `{peer.command('tasks list')}` shows it."
            )
    finally:
        for task in (telling, cancel, turn):
            task.cancel()
        await asyncio.gather(telling, cancel, turn, return_exceptions=True)


async def _tell_wait(interrupts: Interrupts, state: _Turn) -> None:
    """Tell what a Ctrl-C waits for, unless that is over soon."""
    await asyncio.sleep(STOPPED_SECONDS)
    if not interrupts.second.is_set():
        say(UNCONFIRMED if state.named.is_set() else NAMELESS)


async def _cancel(peer: Peer, state: _Turn) -> bool:
    """Whether the agent agreed, so that the end of the turn is to be expected."""
    await (
        state.named.wait()
    )  # a request that is on its way already becomes a task, which must not go on alone
    task_id = state.view.task.task_id
    if not task_id:
        return False
    try:
        with plain_errors(peer.url):
            await peer.connection.cancel(task_id)
    except CliError as error:
        state.ended_before = await _ended(peer, task_id)
        if not state.ended_before:
            say(error.message)
        return False
    return True


async def _ended(peer: Peer, task_id: str) -> Sequence[PeerEvent]:
    """All that a task says that has ended; nothing where it has not, or nobody knows."""
    try:
        with plain_errors(peer.url):
            events = list(decode_task(await peer.connection.get_task(task_id)))
    except CliError:
        return ()
    view = TaskView(task_id)
    for event in events:
        view.apply(event)
    return () if view.open or view.waits else events

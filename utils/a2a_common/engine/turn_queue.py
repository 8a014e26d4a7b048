"""`TurnQueue`: the queue of an agent's turns, shared by all its replicas, and its records.

Turns of a conversation run one at a time over all replicas, in the order in which they were added; resumed turns come first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from utils.a2a_common.engine.load import Load


class Requeued(Exception):
    """The turn continues in another process: its job goes back to the queue."""


@dataclass(frozen=True, slots=True)
class QueuedTurn:
    """A turn in the queue.

    Attributes:
        job_id: The job, which at most one worker runs.
        task_id: The task.
        goes_on: Whether it was begun before and is resumed.
        runs: Whether a worker runs it.
        canceled: Whether its cancellation was requested. If not, a canceled run means that its worker stops.
    """

    job_id: int
    task_id: str
    goes_on: bool
    runs: bool
    canceled: Callable[[], bool] = bool


@dataclass(frozen=True, slots=True)
class QueueSlot:
    """The state of the queue while a turn is added; no other turn can be added meanwhile.

    Attributes:
        load: How busy the replicas are.
        task_busy: Whether a turn of the same task waits or runs.
        take: Adds the turn; the argument is whether it was begun before. It may begin when the transaction is committed.
    """

    load: Load
    task_busy: bool
    take: Callable[[bool], Awaitable[None]]


Work = Callable[[QueuedTurn], Awaitable[None]]
"""Runs a turn. Raises `Requeued` if the turn continues in another process; after any other exception the job is over."""


class TurnQueue(Protocol):
    """The queue, and this process' worker on it. A job holds the id of a task and nothing else.

    A job has one worker only: the turns of a dead worker are queued as new jobs, so that a worker that only stalled can neither
    end nor move them when it continues.

    Every method but `stop_working` and `close` raises `StorageError` if the storage fails, and `Draining` after `close`.
    """

    @property
    def stalled_seconds(self) -> float:
        """Seconds without a heartbeat after which a worker counts as dead."""

    async def open(self, work: Work, *, fair: bool = False) -> None:
        """Connect, and begin to run turns with `work`. With `fair`, places are shared among the callers."""

    async def stop_working(self) -> None:
        """Fetch no more turns. Running turns, and the heartbeats, continue until `close`. Safe to call twice."""

    async def close(self) -> None:
        """End the worker, which requeues the turns that still run, and disconnect. Safe to call twice."""

    def slot(self, task_id: str, conversation: str) -> AbstractAsyncContextManager[QueueSlot]:
        """The transaction that adds a turn. Only one runs at a time, so that two replicas cannot use the same last place."""

    def hold_turns(self, conversation: str) -> AbstractAsyncContextManager[bool]:
        """Keep turns of a conversation from being added within the block; `False` if there is one already."""

    async def find(self, task_id: str) -> QueuedTurn | None:
        """The turn of a task that waits or runs, on any replica."""

    def next_change(self) -> asyncio.Event:
        """Set when this replica is notified that a turn was added, has ended or was requeued. Notifications can be lost."""

    async def withdraw(self, turn: QueuedTurn) -> bool:
        """Remove a waiting turn from the queue; `False` if it runs or is gone."""

    async def abort(self, turn: QueuedTurn) -> None:
        """Stop a turn wherever it runs."""

    async def all_tasks(self) -> set[str]:
        """The tasks of all turns that wait or run."""

    async def waiting(self) -> int:
        """How many turns no replica runs yet."""

    async def restore(self, task_id: str, conversation: str) -> None:
        """Queue a stored turn unless it is in the queue already."""

    def sweeping(self) -> AbstractAsyncContextManager[bool]:
        """Whether this replica may sweep within the block: one at a time, over all replicas."""

    async def requeue_stalled(self) -> list[str]:
        """Queue the turns of dead workers as new jobs and return their tasks. Only within `sweeping`."""

    async def clear(self) -> None:
        """Delete the rows of jobs that were canceled and requeued at the same moment; other jobs leave none."""

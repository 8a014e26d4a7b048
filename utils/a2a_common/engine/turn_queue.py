"""`TurnQueue`: the queue of an agent's turns, shared by all its replicas, and the record of a turn in it.

Turns of a conversation run one at a time over all replicas, in the order in which they were added, those that were begun
before first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from utils.a2a_common.engine.load import Load


class Requeued(Exception):
    """The turn goes on elsewhere: its job is not over."""


@dataclass(frozen=True, slots=True)
class QueuedTurn:
    """A turn in the queue.

    Attributes:
        job_id: The job, which one worker runs at most.
        task_id: The task.
        goes_on: Whether it was begun before.
        runs: Whether a worker runs it.
        canceled: Whether its end was asked for. Where a worker is cancelled without that, the worker stops.
    """

    job_id: int
    task_id: str
    goes_on: bool
    runs: bool
    canceled: Callable[[], bool] = bool


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """The state of the queue when a turn is added; no other turn can be added at the same time.

    Attributes:
        load: How busy the replicas are.
        task_busy: Whether a turn of the same task waits or runs.
        take: Adds the turn, with whether it was begun before. It begins when the transaction ends.
    """

    load: Load
    task_busy: bool
    take: Callable[[bool], Awaitable[None]]


Work = Callable[[QueuedTurn], Awaitable[None]]
"""Runs a turn. Raises `Requeued` where the turn goes on elsewhere; whatever else it raises, the job is over."""


class TurnQueue(Protocol):
    """The queue, and this process' worker on it. A job holds the id of a task and nothing else.

    A job has one worker only: what a worker that was taken for dead left is queued again as a job of its own, so that the
    first can neither end nor move it when it wakes.

    Every method but `stop_working` and `close` raises `StorageError` where the storage fails, and `Draining` after `close`.
    """

    @property
    def stalled_seconds(self) -> float:
        """After how many seconds without a sign of life a worker counts as dead."""

    async def open(self, work: Work, *, fair: bool = False) -> None:
        """Connect, and run turns with `work` from now. With `fair`, places are shared among the callers."""

    async def stop_working(self) -> None:
        """Fetch no more turns. Those that run go on until `close`; their signs of life do too. Safe to call twice."""

    async def close(self) -> None:
        """End the worker, which puts back what still runs, and disconnect. Safe to call twice."""

    def place(self, task_id: str, conversation: str) -> AbstractAsyncContextManager[QueuePlace]:
        """The end of the line, in the transaction that adds a turn to it: no replica takes the last place twice."""

    def at_rest(self, conversation: str) -> AbstractAsyncContextManager[bool]:
        """Keep turns of a conversation from being added within the block; `False` if there is one already."""

    async def find(self, task_id: str) -> QueuedTurn | None:
        """The turn of a task that waits or runs, on any replica."""

    def next_change(self) -> asyncio.Event:
        """Set when this replica hears of a turn that was added, has ended or waits again. What it does not hear sets nothing."""

    async def withdraw(self, turn: QueuedTurn) -> bool:
        """Remove a waiting turn from the queue; `False` if it runs or is gone."""

    async def abort(self, turn: QueuedTurn) -> None:
        """Stop a turn wherever it runs."""

    async def all_tasks(self) -> set[str]:
        """The tasks of all turns that wait or run."""

    async def waiting(self) -> int:
        """How many turns no replica runs yet."""

    async def restore(self, task_id: str, conversation: str) -> None:
        """Queue a stored turn, unless it is in the queue already."""

    def sweeping(self) -> AbstractAsyncContextManager[bool]:
        """One sweeper at a time, over all replicas; `False` for the others."""

    async def requeue_stalled(self) -> list[str]:
        """Queue what dead workers ran once more, each as a job of its own; the tasks. Only within `sweeping`."""

    async def clear(self) -> None:
        """Delete what is left of jobs that were canceled or put back at the same moment; the others leave nothing."""

"""The entries that readers get from a task log, and the errors that end a writer or a reader."""

from __future__ import annotations

from dataclasses import dataclass

from a2a.server.events.event_queue import Event
from a2a.types.a2a_pb2 import Message, Task, TaskStatusUpdateEvent

from utils.a2a_common.tasks.states import SETTLED


@dataclass(frozen=True, slots=True)
class Entry:
    """One event of a task log.

    Attributes:
        sequence: Its sequence number in the log of its task; grows by one within an attempt.
        event: The event. Readers share it and must not change it.
    """

    sequence: int
    event: Event

    @property
    def settles(self) -> bool:
        """Whether it settles the turn."""
        if isinstance(self.event, Message):
            return True
        return isinstance(self.event, Task | TaskStatusUpdateEvent) and self.event.status.state in SETTLED


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A task at one point of its log.

    Attributes:
        task: A copy of the task with its artifacts.
        sequence: Sequence number of the last event in it.
    """

    task: Task
    sequence: int


class Fenced(Exception):
    """A later attempt has claimed the task: this one may write nothing more."""


class Suspended(Exception):
    """The turn is not over: it continues in another process or after the next start.

    Args:
        announced: Whether readers have received an event that says so.
    """

    def __init__(self, *, announced: bool = False) -> None:
        super().__init__()
        self.announced = announced

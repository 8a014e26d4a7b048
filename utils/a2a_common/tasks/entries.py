"""The entries that readers get from a task log, and the errors that end a writer or a reader."""

from __future__ import annotations

from dataclasses import dataclass

from a2a.server.events.event_queue import Event
from a2a.types.a2a_pb2 import Message, Task, TaskStatusUpdateEvent

from utils.a2a_common.tasks.states import SETTLED


@dataclass(frozen=True, slots=True)
class Entry:
    """An event of a log.

    Attributes:
        sequence: Its place in the log of its task; grows by one within an attempt.
        event: The event. Readers share it and never change it.
    """

    sequence: int
    event: Event

    @property
    def settles(self) -> bool:
        """Whether the turn ends with it."""
        if isinstance(self.event, Message):
            return True
        return isinstance(self.event, Task | TaskStatusUpdateEvent) and self.event.status.state in SETTLED


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A task at one point of its log.

    Attributes:
        task: The whole task with its artifacts; the caller's own copy.
        sequence: The last event that is part of it.
    """

    task: Task
    sequence: int


class Fenced(Exception):
    """A later attempt runs the task: this one may write nothing more."""


class Suspended(Exception):
    """The turn is not over, but goes on in another process or after the next start.

    Args:
        announced: Whether readers have received an event that says so.
    """

    def __init__(self, *, announced: bool = False) -> None:
        super().__init__()
        self.announced = announced

"""Heads of tasks and their stored form: a row, and the events after it."""

from __future__ import annotations

from a2a.types.a2a_pb2 import Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent
from a2a.utils.errors import UnsupportedOperationError
from google.protobuf.message import DecodeError

from utils.a2a_common.tasks.transitions import replay
from utils.persistence.task_log_store import Kind, Record, Row, Stored
from utils.persistence.unreadable import UNREADABLE, Noted


def row_of(head: Task, owner: str, sequence: int) -> Row:
    """The stored form of a head after event `sequence`."""
    return Row(
        id=head.id,
        owner=owner,
        context_id=head.context_id,
        state=head.status.state,
        updated=head.status.timestamp.ToNanoseconds(),
        body=head.SerializeToString(),
        sequence=sequence,
    )


def head_of(stored: Stored | None, noted: Noted) -> Task | None:
    """The task of what is stored, without the parts of its artifacts; `None` where there is none.

    Raises:
        UnsupportedOperationError: Its stored form cannot be read.
    """
    if stored is None or stored.row is None:
        return None
    try:
        head = Task.FromString(stored.row.body)
        for record in stored.changes:
            replay(head, _change(record))
    except DecodeError as error:
        noted.note(stored.row.id, type(error).__name__)
        raise UnsupportedOperationError(UNREADABLE) from error
    return head


def _change(record: Record) -> TaskStatusUpdateEvent | TaskArtifactUpdateEvent:
    if record.kind == Kind.STATUS:
        return TaskStatusUpdateEvent.FromString(record.body)
    return TaskArtifactUpdateEvent.FromString(record.body)

"""Stored form of a task's log: its events as records, its head as a row, and back."""

from __future__ import annotations

from collections.abc import Iterator

from a2a.server.events.event_queue import Event
from a2a.types.a2a_pb2 import Artifact, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent
from a2a.utils.errors import UnsupportedOperationError
from google.protobuf.message import DecodeError

from utils.a2a_common.tasks.entries import Entry
from utils.a2a_common.tasks.transitions import replay
from utils.persistence.task_log_store import Record, RecordKind, Row, Stored
from utils.persistence.unreadable import UNREADABLE, Noted


def record_of(entry: Entry) -> Record:
    """The stored form of an entry."""
    return Record(entry.sequence, _kind(entry.event), entry.event.SerializeToString())


def _kind(event: Event) -> RecordKind:
    if isinstance(event, Task):
        return RecordKind.TASK
    if isinstance(event, TaskStatusUpdateEvent):
        return RecordKind.STATUS
    if isinstance(event, TaskArtifactUpdateEvent):
        return RecordKind.CHUNK if event.append else RecordKind.ARTIFACT
    return RecordKind.MESSAGE


def entry_of(record: Record, task_id: str, context_id: str) -> Entry:
    """The entry of a record.

    Raises:
        DecodeError: Its body cannot be read.
    """
    return Entry(record.sequence, _event(record, task_id, context_id))


def _event(record: Record, task_id: str, context_id: str) -> Event:
    match record.kind:
        case RecordKind.TASK:
            return Task.FromString(record.body)
        case RecordKind.STATUS:
            return TaskStatusUpdateEvent.FromString(record.body)
        case RecordKind.ARTIFACT | RecordKind.CHUNK:
            return TaskArtifactUpdateEvent.FromString(record.body)
        case RecordKind.MESSAGE:
            return Message.FromString(record.body)
        case RecordKind.BARE_ARTIFACT | RecordKind.BARE_CHUNK:
            return TaskArtifactUpdateEvent(
                task_id=task_id,
                context_id=context_id,
                artifact=Artifact.FromString(record.body),
                append=record.kind == RecordKind.BARE_CHUNK,
            )


def pieces(record: Record) -> Iterator[tuple[Artifact, bool]]:
    """The artifacts in a record of content, each with whether it continues one.

    Raises:
        DecodeError: Its body cannot be read.
    """
    if record.kind == RecordKind.TASK:
        for artifact in Task.FromString(record.body).artifacts:
            yield artifact, False
    elif record.kind in {RecordKind.BARE_ARTIFACT, RecordKind.BARE_CHUNK}:
        yield Artifact.FromString(record.body), record.kind == RecordKind.BARE_CHUNK
    else:
        event = TaskArtifactUpdateEvent.FromString(record.body)
        yield event.artifact, event.append


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
    """The stored task without the parts of its artifacts; `None` if there is none.

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
    if record.kind == RecordKind.STATUS:
        return TaskStatusUpdateEvent.FromString(record.body)
    return TaskArtifactUpdateEvent.FromString(record.body)

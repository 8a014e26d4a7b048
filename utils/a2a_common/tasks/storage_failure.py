"""Final status of a task whose answer could not be stored."""

from __future__ import annotations

from a2a.types.a2a_pb2 import Task

from utils.a2a_common.protocol.extensions import ERROR_EXTENSION, error_payload
from utils.a2a_common.tasks.storage_end import SENTENCE
from utils.errors import StorageError
from utils.events import Failed
from utils.persistence.tasks import fail


def end_by_storage(task: Task) -> None:
    """Make a task a failed one, with the code of a storage that failed."""
    fail(task, SENTENCE)
    failure = Failed(StorageError.code, SENTENCE, StorageError.retryable)
    task.metadata.update({ERROR_EXTENSION: error_payload(failure, "")})

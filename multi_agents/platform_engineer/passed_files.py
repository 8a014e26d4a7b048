"""Files of a sub-agent: artifacts of the supervisor's own task, and shown to a model that takes them. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from utils.a2a_common.protocol.file_names import safe_file_name
from utils.events import ArtifactAdded, FileBytes
from utils.messages.marks import IN_WORDS
from utils.messages.media.readable import file_block, is_readable

if TYPE_CHECKING:
    from utils.a2a_common.client.delegation.task_view import TaskView

MOST_FILES = 20
"""Files of one delegation that are passed on: as many as a person looks through. The limits of a task apply as well."""

_NAMESPACE = UUID("1f8f2d4e-0d7c-4f0b-9a64-6a0b2a8f0f3c")


def passed_files(task: TaskView, agent: str, delegation_id: str) -> Iterator[ArtifactAdded]:
    """An artifact for each file of a remote task.

    Its id is made of the delegation and the file's place in the task, so that a file that is read again, as after a
    restart or a reply, is the same artifact.

    Args:
        task: The remote task.
        agent: Our own name for its agent.
        delegation_id: Id of the delegation.
    """
    for found in task.files[:MOST_FILES]:
        yield ArtifactAdded(
            [found.file],
            name=found.file.name,
            id=str(uuid5(_NAMESPACE, f"{delegation_id}/{found.key}")),
            origin=agent,
        )


BROKEN = "The stream of this answer broke, and the agent's task shows no answer by itself: some of it may be missing."
"""The note for the model if the text comes from such a stream."""


def content_for(task: TaskView, takes: Container[str], nothing: str) -> str | list[str | dict[str, Any]]:
    """The part of a remote task for the model: its text, and the files that the model accepts.

    Args:
        task: The remote task.
        takes: Media types of the files that the model takes.
        nothing: The text for a task without text.
    """
    files = [found.file for found in task.files[:MOST_FILES]]
    shown = [file for file in files if isinstance(file, FileBytes) and is_readable(file, takes)]
    text = "\n\n".join(
        filter(None, [task.text(takes) or nothing, _too_many(task), BROKEN if task.kept else ""])
    )
    if not shown:
        return text
    return [{"type": "text", "text": text}, *(file_block(file, safe_file_name(file.name)) for file in shown)]


def text_mark(task: TaskView) -> dict[str, str]:
    """The mark of a result with files: its text without them. The publisher of the answer lists the files below it."""
    return (
        IN_WORDS.entry(task.text_without_files)
        if 0 < len(task.files) <= MOST_FILES and task.text_without_files
        else {}
    )


def _too_many(task: TaskView) -> str:
    """The note for the model if not all files are passed on; otherwise empty."""
    count = len(task.files)
    return f"The user is given the first {MOST_FILES} of these {count} files." if count > MOST_FILES else ""

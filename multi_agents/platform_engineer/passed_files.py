"""Files of a sub-agent as artifacts of the supervisor's own task. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from utils.events import ArtifactAdded

if TYPE_CHECKING:
    from utils.a2a_common.client.task_view import TaskView

MOST_FILES = 20
"""Files of one delegation that are passed on: what a person looks through. The limits of a task hold besides."""

_NAMESPACE = UUID("1f8f2d4e-0d7c-4f0b-9a64-6a0b2a8f0f3c")


def passed_files(task: TaskView, agent: str, errand: str) -> Iterator[ArtifactAdded]:
    """An artifact for each file of a remote task.

    Its id is made of the delegation and the file's place in the task, so that a file that is read again, as after a
    restart or a reply, is the same artifact.

    Args:
        task: The remote task.
        agent: Our own name for its agent.
        errand: Id of the delegation.
    """
    for found in task.files[:MOST_FILES]:
        yield ArtifactAdded(
            [found.file],
            name=found.file.name,
            id=str(uuid5(_NAMESPACE, f"{errand}/{found.key}")),
            origin=agent,
        )


def too_many(task: TaskView) -> str:
    """What the model is told where not all files are passed on; empty where they are."""
    count = len(task.files)
    return f"The user is given the first {MOST_FILES} of these {count} files." if count > MOST_FILES else ""

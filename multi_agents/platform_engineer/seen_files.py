"""The files of a sub-agent's result for the supervisor's model: those that it accepts, fetched if they are given as a URL."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from utils.a2a_common.graph.run.fetched_file import MOST_FILES, fetched
from utils.events import ContentPart, FileUrl
from utils.net.settings import FileSettings

if TYPE_CHECKING:
    from utils.a2a_common.client.delegation.task_view import TaskView


class SeenFiles:
    """Fetches files of results for a model.

    Args:
        takes: Media types of the files that the model takes; no other ones are fetched.
        settings: From where, and how long it may take.

    Attributes:
        takes: See above.
    """

    def __init__(self, takes: Container[str], settings: FileSettings) -> None:
        self.takes = takes
        self._settings = settings

    async def view(self, task: TaskView) -> TaskView:
        """The task with the content of the files that are given by address. A file that cannot be fetched stays unchanged."""
        holders = [*(artifact.parts for artifact in task.artifacts.values()), task.status]
        parts = [part for held in holders for part in held]
        addressed = [part for part in parts if isinstance(part, FileUrl) and part.media_type in self.takes]
        if not addressed:
            return task
        wanted = list(dict.fromkeys(addressed))[:MOST_FILES]
        contents = await asyncio.gather(*(fetched(part, self._settings) for part in wanted))
        found: dict[FileUrl, ContentPart] = {old: new for old, (new, _) in zip(wanted, contents, strict=True)}
        artifacts = {
            key: replace(artifact, parts=_with(artifact.parts, found))
            for key, artifact in task.artifacts.items()
        }
        return replace(task, artifacts=artifacts, status=_with(task.status, found))


def _with(parts: Iterable[ContentPart], found: Mapping[FileUrl, ContentPart]) -> list[ContentPart]:
    return [found.get(part, part) if isinstance(part, FileUrl) else part for part in parts]

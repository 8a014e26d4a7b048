"""Artifacts assembled from the records of a log, in time linear in the length of the answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from a2a.types.a2a_pb2 import Artifact, Part, Task

from utils.a2a_common.tasks.stored_form import pieces
from utils.persistence.task_log_store import Record


def assemble(task: Task, records: Iterable[Record]) -> None:
    """Give `task` the artifacts that `records` make, in place.

    Text at the beginning of a chunk continues the text of the same media type at the end of the one before.

    Args:
        task: Its artifacts have no parts; they define which artifacts there are and in which order.
        records: Records of content, in order.

    Raises:
        DecodeError: A record cannot be read.
    """
    built: dict[str, _Assembly] = {}
    for record in records:
        for artifact, append in pieces(record):
            known = built.get(artifact.artifact_id)
            if known is None or not append:
                known = built[artifact.artifact_id] = _Assembly(artifact)
            elif artifact.HasField("metadata"):
                known.head.metadata.MergeFrom(artifact.metadata)
            known.add(artifact)
    for head in task.artifacts:
        assembly = built.get(head.artifact_id)
        if assembly is not None:
            head.CopyFrom(assembly.finish())


@dataclass
class _Assembly:
    """An artifact that is being assembled. Text is joined once, at the end."""

    head: Artifact
    parts: list[Part] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    media_type: str = ""

    def add(self, artifact: Artifact) -> None:
        for number, part in enumerate(artifact.parts):
            if _is_plain_text(part):
                if number > 0 or part.media_type != self.media_type:
                    self._settle_text()
                    self.media_type = part.media_type
                self.text.append(part.text)
            else:
                self._settle_text()
                self.parts.append(part)

    def _settle_text(self) -> None:
        if self.text:
            self.parts.append(Part(text="".join(self.text), media_type=self.media_type))
            self.text.clear()

    def finish(self) -> Artifact:
        self._settle_text()
        del self.head.parts[:]
        self.head.parts.extend(self.parts)
        return self.head


def _is_plain_text(part: Part) -> bool:
    return part.WhichOneof("content") == "text" and not part.filename and not part.HasField("metadata")

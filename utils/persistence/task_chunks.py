"""Artifacts as they were streamed, and the whole that they make."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from a2a.types.a2a_pb2 import Artifact, Part, Task


@dataclass(frozen=True, slots=True)
class Chunk:
    """One artifact event as stored.

    Attributes:
        sequence: Order of arrival within a store; grows.
        position: Place of the artifact in the task.
        append: Whether the parts continue the artifact; otherwise they replace it.
        artifact: The event's artifact, serialised.
    """

    sequence: int
    position: int
    append: bool
    artifact: bytes


@dataclass
class _Assembly:
    """One artifact under construction. Text is joined once, at the end: linear in its length."""

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


def assemble(task: Task, chunks: Iterable[Chunk]) -> None:
    """Give `task` the artifacts that `chunks` make.

    Text at the beginning of a chunk goes on with the text of the same media type at the end of the one before.

    Args:
        task: Its artifacts are heads without parts, which say what exists and in which order.
        chunks: In order of position, then sequence.
    """
    built: dict[str, _Assembly] = {}
    for chunk in chunks:
        artifact = Artifact.FromString(chunk.artifact)
        known = built.get(artifact.artifact_id)
        if known is None or not chunk.append:
            known = built[artifact.artifact_id] = _Assembly(artifact)
        elif artifact.HasField("metadata"):
            known.head.metadata.MergeFrom(artifact.metadata)
        known.add(artifact)
    for head in task.artifacts:
        assembly = built.get(head.artifact_id)
        if assembly is not None:
            head.CopyFrom(assembly.finish())


def _is_plain_text(part: Part) -> bool:
    return part.WhichOneof("content") == "text" and not part.filename and not part.HasField("metadata")

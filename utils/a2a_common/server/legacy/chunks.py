"""Streams of protocol 0.3 over HTTP+JSON and gRPC, in which the last event of a chunked artifact contains all of it.

Clients of JavaScript's SDK lose `append` over these bindings and take each chunk for the artifact. The last chunk of an answer
is often empty, so that their users would read nothing. In its place goes the artifact from its first chunk on, without
`append`, which means the same to every client that reads `append`.
"""

from __future__ import annotations

from a2a.compat.v0_3 import a2a_v0_3_pb2 as pb

from utils.a2a_common.protocol.artifact_limits import TEXT_CHUNK

WHOLE = TEXT_CHUNK
"""Most characters of an artifact that is sent complete at its end: the text of one event, and the memory of each open stream."""


class WholeAtEnd:
    """The unfinished artifacts of one stream, from its events."""

    def __init__(self) -> None:
        self._begun: dict[str, _Begun] = {}

    def outgoing(self, event: pb.StreamResponse) -> pb.StreamResponse:
        """The event to send; changed in place if it is the last of several chunks."""
        match event.WhichOneof("payload"):
            case "task":
                self._begun = {each.artifact_id: _Begun(each) for each in event.task.artifacts}
            case "artifact_update":
                self._chunk(event.artifact_update)
        return event

    def _chunk(self, update: pb.TaskArtifactUpdateEvent) -> None:
        name = update.artifact.artifact_id
        if not update.append:
            self._begun[name] = _Begun(update.artifact)
        elif name in self._begun:
            self._begun[name].add(update.artifact)
        if not update.last_chunk:
            return
        begun = self._begun.pop(name, None)
        whole = begun.whole() if begun is not None and update.append else None
        if whole is not None:
            update.artifact.CopyFrom(whole)
            update.append = False


class _Begun:
    """An artifact of text so far; one with something else, or that became too long, is not kept."""

    def __init__(self, artifact: pb.Artifact) -> None:
        self._head = pb.Artifact()
        self._texts: list[str] | None = []
        self._length = 0
        if self._takes(artifact):
            self._head.CopyFrom(artifact)
            del self._head.parts[:]
        self.add(artifact)

    def add(self, artifact: pb.Artifact) -> None:
        """Take in a chunk."""
        self._length += sum(len(part.text) for part in artifact.parts)
        if self._texts is None or not self._takes(artifact) or self._length > WHOLE:
            self._texts = None
            return
        self._texts += [part.text for part in artifact.parts]

    def whole(self) -> pb.Artifact | None:
        """The artifact with its text in one part; `None` if it was not kept."""
        if self._texts is None:
            return None
        self._head.parts.add(text="".join(self._texts))
        return self._head

    @staticmethod
    def _takes(artifact: pb.Artifact) -> bool:
        """Whether a chunk holds at most one text, without facts of its own: more may not be joined to one part."""
        parts = artifact.parts
        return len(parts) <= 1 and all(
            part.WhichOneof("part") == "text" and not part.metadata.fields for part in parts
        )

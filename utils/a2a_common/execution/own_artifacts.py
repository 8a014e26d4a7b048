"""An agent's own artifacts on their way to the wire: what the client accepts, within the limits of a task."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from utils.a2a_common.execution.event_sink import EventSink
from utils.a2a_common.protocol.extensions import ARTIFACT_EXTENSION, PLAN_ARTIFACT, RESPONSE_ARTIFACT
from utils.a2a_common.protocol.file_names import safe_file_name
from utils.a2a_common.protocol.output_modes import Accepted
from utils.a2a_common.protocol.parts import encode_part
from utils.events import ArtifactAdded, ContentPart, DataPart, FileBytes, FileUrl, TextPart

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Artifact, Part

MOST_BYTES = 3_000_000
"""Bytes of all artifacts of a task, the answer's text aside. In base64 they take 4,000,000, so that one event and the
whole task fit into the 4 MiB that gRPC takes as one message by default, with room for the rest of the task."""

MOST_ARTIFACTS = 100
"""Artifacts of a task: the head of each is rewritten with the task's row at every status."""

TEXT_CHUNK = 100_000
"""Characters of a text part in one event; a longer one comes in chunks, which readers join."""

_NAMESPACE = UUID("6f0b9c0e-52b7-4f0a-9f5a-0f6f7b1f4c52")
_RESERVED = (RESPONSE_ARTIFACT, PLAN_ARTIFACT)


@dataclass(frozen=True, slots=True)
class Ready:
    """An artifact as it is sent, and what is known of it."""

    artifact: Artifact
    size: int
    digest: str


class OwnArtifacts:
    """Publishes the artifacts that an agent adds to one task.

    Args:
        sink: Takes the events.
        accepted: What the client accepts.
        known: Artifacts that earlier turns of the task published; their heads are enough.

    Attributes:
        left_out: A sentence for each part or artifact that was not published.
        published: How many were published in this turn.
    """

    def __init__(self, sink: EventSink, accepted: Accepted, known: Iterable[Artifact] = ()) -> None:
        self._sink = sink
        self._accepted = accepted
        self._known = {each.artifact_id: _fact(each) for each in known if each.artifact_id not in _RESERVED}
        self.left_out: list[str] = []
        self.published = 0

    async def publish(self, event: ArtifactAdded) -> None:
        """Publish an artifact; what the client does not accept, and what goes beyond the limits, is left out.

        Raises:
            ValueError: It has no parts, the id of the answer or the plan, or a value that JSON cannot express.
        """
        parts, refused = accepted_parts(event.parts, self._accepted)
        self.left_out += refused
        if not parts and event.parts:
            return
        ready = prepared(replace(event, parts=parts))
        artifact_id = ready.artifact.artifact_id
        size, digest = self._known.get(artifact_id, (0, ""))
        if digest == ready.digest:
            self.published += 1  # it is there already: a tool or a turn that ran again
            return
        if why := self._beyond(artifact_id, ready.size - size):
            self.left_out.append(f"{_named(event)} was not returned: {why}")
            return
        self._known[artifact_id] = (ready.size, ready.digest)
        self.published += 1
        chunks = list(in_chunks(ready.artifact))
        for number, chunk in enumerate(chunks, start=1):
            await self._sink.artifact(chunk, append=number > 1, last=number == len(chunks))

    def _beyond(self, artifact_id: str, more: int) -> str:
        if artifact_id not in self._known and len(self._known) >= MOST_ARTIFACTS:
            return f"a task has at most {MOST_ARTIFACTS} artifacts."
        if sum(size for size, _ in self._known.values()) + more > MOST_BYTES:
            return f"the artifacts of a task have at most {MOST_BYTES:,} bytes together."
        return ""


def accepted_parts(parts: Iterable[ContentPart], accepted: Accepted) -> tuple[list[ContentPart], list[str]]:
    """The parts that a client accepts, text as the type that it accepts; a sentence for each other one."""
    kept: list[ContentPart] = []
    refused: list[str] = []
    for part in parts:
        if isinstance(part, TextPart) and not accepted.takes(part.media_type) and accepted.takes_text:
            kept.append(replace(part, media_type=accepted.text))
        elif accepted.takes(part.media_type):
            kept.append(part)
        else:
            refused.append(
                f"{_part_named(part)} was left out: its type is not among those that are accepted."
            )
    return kept, refused


def prepared(event: ArtifactAdded) -> Ready:
    """An artifact as it is sent, with safe file names, a stable id, its size and where it comes from.

    Raises:
        ValueError: It has no parts, the id of the answer or the plan, or a value that JSON cannot express.
    """
    from a2a.types.a2a_pb2 import Artifact

    if not event.parts:
        raise ValueError("An artifact needs at least one part.")
    if event.id in _RESERVED:
        raise ValueError(f"The artifact id {event.id!r} is that of the answer or of the plan.")
    parts = [encode_part(_safe(part)) for part in event.parts]
    digest = _digest(event, parts)
    size = sum(map(_size, parts))
    artifact = Artifact(
        artifact_id=event.id or str(uuid5(_NAMESPACE, digest)),
        name=event.name,
        description=event.description,
        parts=parts,
    )
    origin = {"origin": event.origin} if event.origin else {}
    metadata = {**event.metadata, ARTIFACT_EXTENSION: {"bytes": size, "digest": digest, **origin}}
    artifact.metadata.update(metadata)
    artifact.extensions.extend(metadata)
    return Ready(artifact, size, digest)


def in_chunks(artifact: Artifact) -> Iterator[Artifact]:
    """The events of an artifact: one, but for long text, which goes on in the next one.

    Whoever joins chunks takes text at the beginning of one for the continuation of text at the end of the one before.
    So a chunk never ends between two parts of text: it goes on until the cut falls inside one.
    """
    from a2a.types.a2a_pb2 import Artifact

    chunk, room = Artifact(), TEXT_CHUNK
    chunk.CopyFrom(artifact)
    del chunk.parts[:]
    for part in artifact.parts:
        text = part.text
        while room <= len(text) - 1 and part.WhichOneof("content") == "text":
            cut = max(1, room)
            chunk.parts.append(_text_like(part, text[:cut]))
            yield chunk
            text, room = text[cut:], TEXT_CHUNK
            chunk = Artifact(artifact_id=artifact.artifact_id, name=artifact.name)
        chunk.parts.append(_text_like(part, text) if text else part)
        room -= len(text)
    yield chunk


def _text_like(part: Part, text: str) -> Part:
    from a2a.types.a2a_pb2 import Part

    return Part(text=text, media_type=part.media_type)


def _safe(part: ContentPart) -> ContentPart:
    if isinstance(part, FileBytes):
        return replace(part, name=safe_file_name(part.name))
    if isinstance(part, FileUrl) and part.name:
        return replace(part, name=safe_file_name(part.name))
    return part


def _digest(event: ArtifactAdded, parts: Iterable[Part]) -> str:
    found = hashlib.sha256()
    for text in (event.id, event.name, event.description, event.origin):
        found.update(f"{len(text)}:{text}".encode())
    for part in parts:
        content = part.SerializeToString(deterministic=True)
        found.update(b"%d:" % len(content) + content)
    return found.hexdigest()


def _size(part: Part) -> int:
    match part.WhichOneof("content"):
        case "raw":
            return len(part.raw)
        case "data":
            return int(part.data.ByteSize())
        case "url":
            return len(part.url.encode())
        case _:
            return len(part.text.encode())


def _fact(artifact: Artifact) -> tuple[int, str]:
    """Size and digest of an artifact that was published, as its metadata says."""
    from google.protobuf import json_format

    metadata: Mapping[str, Any] = json_format.MessageToDict(artifact.metadata)
    fact = metadata.get(ARTIFACT_EXTENSION)
    if not isinstance(fact, Mapping):
        return 0, ""
    size = fact.get("bytes")
    return int(size) if isinstance(size, int | float) else 0, str(fact.get("digest", ""))


def _named(event: ArtifactAdded) -> str:
    files = [part for part in event.parts if isinstance(part, FileBytes | FileUrl)]
    if event.name or not files:
        return f'The artifact "{safe_file_name(event.name)}"' if event.name else "An artifact"
    return _part_named(files[0])


def _part_named(part: ContentPart) -> str:
    match part:
        case FileBytes(content=content, name=name):
            return f'The file "{safe_file_name(name)}" ({part.media_type}, {len(content):,} bytes)'
        case FileUrl(name=name):
            return f'The file "{safe_file_name(name)}" ({part.media_type})'
        case DataPart():
            return f"Data ({part.media_type})"
        case TextPart():
            return f"Text ({part.media_type})"

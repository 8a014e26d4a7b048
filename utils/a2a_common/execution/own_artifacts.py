"""An agent's own artifacts on their way to the wire: what the client accepts, within the limits of a task."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID, uuid5

from utils.a2a_common.execution.event_sink import EventSink
from utils.a2a_common.protocol.artifact_limits import MOST_ARTIFACTS, MOST_BYTES, TEXT_CHUNK
from utils.a2a_common.protocol.extensions import ARTIFACT_EXTENSION, PLAN_ARTIFACT, RESPONSE_ARTIFACT
from utils.a2a_common.protocol.file_names import safe_file_name
from utils.a2a_common.protocol.output_modes import Accepted
from utils.a2a_common.protocol.parts import encode_part
from utils.events import ArtifactAdded, ContentPart, DataPart, FileBytes, FileUrl, TextPart

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Artifact, Part

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
    """

    def __init__(self, sink: EventSink, accepted: Accepted, known: Iterable[Artifact] = ()) -> None:
        self._sink = sink
        self._accepted = accepted
        earlier = [(each, _fact(each)) for each in known if each.artifact_id not in _RESERVED]
        self._known = {each.artifact_id: (fact.size, fact.digest) for each, fact in earlier}
        self._passed_on = {
            each.artifact_id: f"`{each.name}` ({fact.size:,} bytes), from {fact.origin}"
            for each, fact in earlier
            if fact.origin
        }
        self.left_out: list[str] = []

    @property
    def published(self) -> bool:
        """Whether the task has an artifact of the agent's own."""
        return bool(self._known)

    @property
    def passed_on(self) -> str:
        """The files of sub-agents that the task has, as a list; empty for none."""
        lines = [f"- {line}" for line in self._passed_on.values()]
        return "\n".join(["Files:", "", *lines]) if lines else ""

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
            self._name(event, artifact_id)
            return  # it is there already: a tool or a turn ran again
        if why := self._beyond(artifact_id, ready.size - size):
            self.left_out.append(f"{_named(event)} was not returned: {why}")
            return
        self._known[artifact_id] = (ready.size, ready.digest)
        self._name(event, artifact_id)
        chunks = list(in_chunks(ready.artifact))
        for number, chunk in enumerate(chunks, start=1):
            await self._sink.artifact(chunk, append=number > 1, last=number == len(chunks))

    def _name(self, event: ArtifactAdded, artifact_id: str) -> None:
        """Note what the answer says of an artifact of a sub-agent."""
        if event.origin:
            files = [_line(part) for part in event.parts if isinstance(part, FileBytes | FileUrl)]
            self._passed_on[artifact_id] = f"{', '.join(files) or _named(event)}, from {event.origin}"

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
        while len(text) > (cut := max(1, room)):
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


class _Fact(NamedTuple):
    """What the metadata of a published artifact says."""

    size: int = 0
    digest: str = ""
    origin: str = ""


def _fact(artifact: Artifact) -> _Fact:
    from google.protobuf import json_format

    metadata: Mapping[str, Any] = json_format.MessageToDict(artifact.metadata)
    fact = metadata.get(ARTIFACT_EXTENSION)
    if not isinstance(fact, Mapping):
        return _Fact()
    return _Fact(int(fact.get("bytes", 0)), str(fact.get("digest", "")), str(fact.get("origin", "")))


def _named(event: ArtifactAdded) -> str:
    files = [part for part in event.parts if isinstance(part, FileBytes | FileUrl)]
    if event.name or not files:
        return f'The artifact "{safe_file_name(event.name)}"' if event.name else "An artifact"
    return _part_named(files[0])


def _line(file: FileBytes | FileUrl) -> str:
    """A file in a list, its name as code so that nothing in it is formatted."""
    about = (
        f"{file.media_type}, {len(file.content):,} bytes" if isinstance(file, FileBytes) else file.media_type
    )
    where = f" at {file.url}" if isinstance(file, FileUrl) else ""
    return f"`{safe_file_name(file.name)}` ({about}){where}"


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

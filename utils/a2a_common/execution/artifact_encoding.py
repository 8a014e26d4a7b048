"""An `ArtifactAdded` as the artifact that is sent: the parts that a client accepts, in chunks that readers join.

In the sentences that a user reads of them names are made safe, and content is not shown. Pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from utils.a2a_common.protocol.artifact_limits import TEXT_CHUNK
from utils.a2a_common.protocol.extensions import ARTIFACT_EXTENSION, PLAN_ARTIFACT, RESPONSE_ARTIFACT
from utils.a2a_common.protocol.file_names import safe_file_name
from utils.a2a_common.protocol.media_modes import Accepted
from utils.a2a_common.protocol.parts import encode_part
from utils.events import ArtifactAdded, ContentPart, DataPart, FileBytes, FileUrl, TextPart

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Artifact, Part

RESERVED = (RESPONSE_ARTIFACT, PLAN_ARTIFACT)
"""Ids that the answer and the plan have."""

_NAMESPACE = UUID("6f0b9c0e-52b7-4f0a-9f5a-0f6f7b1f4c52")


@dataclass(frozen=True, slots=True)
class Ready:
    """An artifact as it is sent, and its properties."""

    artifact: Artifact
    size: int
    digest: str


def accepted_parts(parts: Iterable[ContentPart], accepted: Accepted) -> tuple[list[ContentPart], list[str]]:
    """The parts that a client accepts, text as the type that it accepts; a sentence for each other one."""
    kept: list[ContentPart] = []
    refused: list[str] = []
    for part in parts:
        if accepted.takes(part.media_type):
            kept.append(part)
        elif isinstance(part, TextPart) and accepted.takes_text:
            kept.append(replace(part, media_type=accepted.text))
        else:
            refused.append(f"{part_named(part)} was left out: its type is not among those that are accepted.")
    return kept, refused


def prepared(event: ArtifactAdded) -> Ready:
    """An artifact as it is sent, with safe file names, a stable id, its size and where it comes from.

    Raises:
        ValueError: It has no parts, the id of the answer or the plan, or a value that JSON cannot express.
    """
    from a2a.types.a2a_pb2 import Artifact

    if not event.parts:
        raise ValueError("An artifact needs at least one part.")
    if event.id in RESERVED:
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
    """The events of an artifact: one, except for long text, which continues in the next one.

    A client that joins chunks takes text at the beginning of a chunk for the continuation of text at the end of the last one.
    So a chunk never ends between two parts of text: it is extended until the cut falls inside one.
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

    like = Part(text=text, media_type=part.media_type)
    if part.HasField("metadata"):
        like.metadata.CopyFrom(part.metadata)
    return like


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
    return _content_size(part) + int(part.metadata.ByteSize())


def _content_size(part: Part) -> int:
    match part.WhichOneof("content"):
        case "raw":
            return len(part.raw)
        case "data":
            return int(part.data.ByteSize())
        case "url":
            return len(part.url.encode())
        case _:
            return len(part.text.encode())


def artifact_named(event: ArtifactAdded) -> str:
    """An artifact at the beginning of a sentence: by its name, else by its first file."""
    files = [part for part in event.parts if isinstance(part, FileBytes | FileUrl)]
    if event.name or not files:
        return f'The artifact "{safe_file_name(event.name)}"' if event.name else "An artifact"
    return part_named(files[0])


def listed(file: FileBytes | FileUrl, origin: str) -> str:
    """A list item for a file, with its name as code so that no formatting in it applies."""
    size = f", {len(file.content):,} bytes" if isinstance(file, FileBytes) else ""
    where = f": {file.url}" if isinstance(file, FileUrl) else ""
    return f"`{safe_file_name(file.name)}` ({file.media_type}{size}), from {origin}{where}"


def part_named(part: ContentPart) -> str:
    """A part at the beginning of a sentence."""
    match part:
        case FileBytes(content=content, name=name):
            return f'The file "{safe_file_name(name)}" ({part.media_type}, {len(content):,} bytes)'
        case FileUrl(name=name):
            return f'The file "{safe_file_name(name)}" ({part.media_type})'
        case DataPart():
            return f"Data ({part.media_type})"
        case TextPart():
            return f"Text ({part.media_type})"

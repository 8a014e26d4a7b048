"""Parts and artifacts in the sentences that a user reads. Names are made safe, content is not shown. Pure."""

from __future__ import annotations

from utils.a2a_common.protocol.file_names import safe_file_name
from utils.events import ArtifactAdded, ContentPart, DataPart, FileBytes, FileUrl, TextPart


def artifact_named(event: ArtifactAdded) -> str:
    """An artifact at the beginning of a sentence: by its name, else by its first file."""
    files = [part for part in event.parts if isinstance(part, FileBytes | FileUrl)]
    if event.name or not files:
        return f'The artifact "{safe_file_name(event.name)}"' if event.name else "An artifact"
    return part_named(files[0])


def listed(file: FileBytes | FileUrl, origin: str) -> str:
    """A file in a list, its name as code so that nothing in it is formatted."""
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

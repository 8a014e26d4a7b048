"""Parts of a message or an artifact as a person reads them. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import assert_never

from utils.a2a_common.client.delegation.part_text import TextPiece, joined
from utils.events import ContentPart, DataPart, FileBytes, FileUrl, TextPart


def part_text(part: ContentPart) -> str:
    """One part as text: data as a JSON block, files by name, type and size or address."""
    match part:
        case TextPart(text=text):
            return text
        case DataPart(value=value):
            return f"```json\n{json.dumps(value, indent=2, ensure_ascii=False)}\n```"
        case FileUrl(url=url, name=name):
            return f"[{name or 'file'}]({url})"
        case FileBytes(content=content, name=name, media_type=media_type):
            return f"[file {name or 'without a name'}: {media_type}, {len(content)} bytes]"
        case _:
            assert_never(part)


def artifact_text(parts: Iterable[ContentPart]) -> str:
    """The parts of an artifact: text goes on as it was streamed, whatever else stands on lines of its own."""
    return joined(TextPiece(part_text(part), flows=isinstance(part, TextPart)) for part in parts)


def message_text(parts: Iterable[ContentPart]) -> str:
    """The parts of a message, one after the other."""
    return "\n".join(text for text in map(part_text, parts) if text)

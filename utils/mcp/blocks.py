"""What an MCP tool returned, as content blocks for a model, each of bounded size. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp import types

MOST_BLOCKS = 100
LONGEST_BLOCK = 400_000
"""Characters kept of one block, half from each end; what a model is shown of it is decided later."""

EMPTY = "The tool returned nothing."


def blocks_of(content: Sequence[types.ContentBlock]) -> list[dict[str, Any]]:
    """One text block for each block: texts as they are, everything else named in a few words."""
    shown = [{"type": "text", "text": bounded(_text(block))} for block in content[:MOST_BLOCKS]]
    left_out = len(content) - MOST_BLOCKS
    if left_out > 0:
        shown.append({"type": "text", "text": f"[{left_out} more blocks left out]"})
    return shown or [{"type": "text", "text": EMPTY}]


def text_of(content: Sequence[types.ContentBlock], most: int) -> str:
    """The texts of a failed call on one line, in at most `most` characters."""
    said = " ".join(" ".join(_text(block) for block in content[:MOST_BLOCKS]).split())
    return said if len(said) <= most else said[: most - 1] + "…"


def bounded(text: str) -> str:
    """The text, or its two ends."""
    if len(text) <= LONGEST_BLOCK:
        return text
    half = LONGEST_BLOCK // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"


def _text(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent():
            return block.text
        case types.ImageContent():
            return f"[image, {block.mimeType}, {_size(block.data)}]"
        case types.AudioContent():
            return f"[audio, {block.mimeType}, {_size(block.data)}]"
        case types.ResourceLink():
            return f"[link: {block.name}, {block.uri}]"
        case types.EmbeddedResource(resource=types.TextResourceContents() as resource):
            return resource.text
        case types.EmbeddedResource(resource=types.BlobResourceContents() as resource):
            return f"[file, {resource.mimeType or 'unknown type'}, {_size(resource.blob)}]"
    return "[content of an unknown kind]"


def _size(base64: str) -> str:
    return f"{len(base64.rstrip('=')) * 3 // 4:,} bytes"

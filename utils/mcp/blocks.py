"""Converts the result of an MCP tool to content blocks for a model, of limited total size. Pure."""

from __future__ import annotations

import json
from typing import Any

from mcp import types

from utils.context.strategies.truncate import shares
from utils.messages.stored import ends_of

MOST_BLOCKS = 100
"""Largest number of blocks; further ones are merged into the last."""
LONGEST_RESULT = 4_000_000
"""Characters kept of one result. A page of sixty pull requests of GitHub's own MCP server has 1.2 million. The context
middleware decides later how much of it a model sees."""

EMPTY = "The tool returned nothing."
NO_REASON = "no reason given"


def blocks_of(result: types.CallToolResult) -> list[dict[str, Any]]:
    """One text block for each block: text unchanged, anything else as a short description."""
    texts = _texts(result)
    if len(texts) > MOST_BLOCKS:
        texts[MOST_BLOCKS - 1 :] = ["\n".join(texts[MOST_BLOCKS - 1 :])]
    parts = shares([len(text) for text in texts], LONGEST_RESULT)
    shown = [{"type": "text", "text": ends_of(text, part)} for text, part in zip(texts, parts, strict=True)]
    return shown or [{"type": "text", "text": EMPTY}]


def text_of(result: types.CallToolResult) -> str:
    """The texts of a failed call."""
    return " ".join(_texts(result)[:MOST_BLOCKS]) or NO_REASON


def _texts(result: types.CallToolResult) -> list[str]:
    """The text of each block; if all are empty, the structured content, since MCP does not require text beside it."""
    texts = [_text(block) for block in result.content]
    if result.structuredContent and not any(text.strip() for text in texts):
        return [json.dumps(result.structuredContent, ensure_ascii=False)]
    return texts


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

"""Extracts the text of a message from every form of message content."""

from __future__ import annotations

from langchain_core.messages import BaseMessage


def text_of(content: object) -> str:
    """Plain text of message content: a string, or the text blocks of a list of content blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(_block_text(block) for block in content)
    return ""


def message_text(message: BaseMessage) -> str:
    """Plain text of a message."""
    return text_of(message.content)


def message_lines(message: BaseMessage) -> str:
    """Plain text of a message, each content block on lines of its own."""
    content = message.content
    if isinstance(content, str):
        return content
    return "\n".join(text for text in map(_block_text, content) if text)


def _block_text(block: object) -> str:
    if isinstance(block, str):
        return block
    if isinstance(block, dict) and isinstance(block.get("text"), str):
        return str(block["text"])
    return ""

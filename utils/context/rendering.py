"""Renders messages as plain text for summarisers, the archive and search. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from utils.messages.calls import block_call_id, is_thought
from utils.messages.media.blocks import media_of
from utils.messages.media.stored import media_line


def full_text(message: BaseMessage) -> str:
    """The text of a message, with a line that names the handle of each picture or document."""
    return "\n".join(block_texts(message))


def block_texts(message: BaseMessage) -> list[str]:
    """The same as one text per content block; a plain string is one block."""
    content = message.content
    if isinstance(content, str):
        return [content]
    return [part for part in map(_block_text, content) if part]


_SPEAKS = re.compile(r"\n(?=[ \t]*(?:User:|Assistant:|Assistant calls |System:|Result of ))")


def render(message: BaseMessage) -> str:
    """One message as a paragraph that begins with its role.

    A line of the message that looks like the beginning of another role's paragraph is marked as quoted, so
    that a tool result cannot put words into the user's mouth in a summary.
    """
    text = _SPEAKS.sub("\n> ", full_text(message))
    if isinstance(message, HumanMessage):
        return f"User: {text}"
    if isinstance(message, ToolMessage):
        return f"Result of {message.name or 'tool'}: {text}"
    if isinstance(message, AIMessage):
        calls = "".join(
            f"\nAssistant calls {call['name']}({json.dumps(call['args'], ensure_ascii=False, default=str)})"
            for call in message.tool_calls
        )
        return f"Assistant: {text}{calls}" if text else calls.lstrip("\n")
    return f"{message.type.capitalize()}: {text}"


def render_all(messages: Iterable[BaseMessage]) -> str:
    """Messages as paragraphs, oldest first."""
    return "\n\n".join(render(message) for message in messages)


def _block_text(block: object) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, dict) or block_call_id(block) is not None:
        return ""
    if isinstance(block.get("text"), str):
        return str(block["text"])
    if media := media_of(block):
        return media_line(media)
    if is_thought(block):
        return ""
    return json.dumps(block, ensure_ascii=False, default=str)

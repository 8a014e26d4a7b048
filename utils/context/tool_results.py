"""Shortens an oversized tool result before it enters the conversation. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from langchain_core.messages import ToolMessage

from utils.context.policy import ContextPolicy
from utils.context.protocols import TokenCounter
from utils.context.rendering import full_text
from utils.context.strategies.truncate import shown_of
from utils.messages.handles import handle_of, with_full_output
from utils.messages.media.blocks import media_of


class ShortResult(NamedTuple):
    """A shortened result.

    Attributes:
        message: The result with head and tail of its text, and with its pictures and documents as they are.
        artifacts: The full text, by handle.
        characters: Length of the full text.
    """

    message: ToolMessage
    artifacts: Mapping[str, str]
    characters: int


def short_result(result: ToolMessage, policy: ContextPolicy, counter: TokenCounter) -> ShortResult | None:
    """The result with its text truncated; `None` if it is not too long."""
    blocks = result.content if isinstance(result.content, list) else []
    media = [block for block in blocks if media_of(block)]
    bare = result.model_copy(update={"content": [b for b in blocks if not media_of(b)]}) if media else result
    text = full_text(bare)
    shown = shown_of(bare, policy, counter)
    if shown == text:
        return None
    handle = handle_of(text)
    short = with_full_output(result, shown, handle)
    if media:
        short = short.model_copy(update={"content": [{"type": "text", "text": shown}, *media]})
    return ShortResult(short, {handle: text}, len(text))  # type: ignore[arg-type]

"""Summarises messages in one call, for code that does not use `ContextMiddleware`."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage, SystemMessage

from utils.context.protocols import Summariser
from utils.context.rendering import render_all
from utils.context.strategies.summarise import summarise
from utils.context.summarisers.extractive import ExtractiveSummariser
from utils.messages.counter import MessageCounter

OPENING = "Previous conversation summary: "


async def summarize_messages(
    messages: Sequence[BaseMessage], summariser: Summariser | None = None, *, max_tokens: int = 2_000
) -> SystemMessage:
    """A system message that summarises `messages` and can replace them.

    Args:
        messages: The messages to summarise, oldest first.
        summariser: Writes the text; if it is unset or fails, an extract is made instead.
        max_tokens: Most tokens of the summary.
    """
    counter = MessageCounter()
    writer = summariser or ExtractiveSummariser(counter)
    text = render_all(messages)
    summary = await summarise(text, "", max_tokens, writer, counter)
    return SystemMessage(f"{OPENING}{summary.text}")

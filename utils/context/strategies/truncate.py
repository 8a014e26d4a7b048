"""Truncates tool results over the size limit to head and tail. Pure."""

from __future__ import annotations

from collections.abc import Container, Sequence

from langchain_core.messages import BaseMessage, ToolMessage

from utils.context.excerpt import excerpt_chars
from utils.context.policy import ContextPolicy
from utils.context.protocols import TokenCounter
from utils.context.ranked import capped, parse_ranked
from utils.context.rendering import block_texts, full_text
from utils.context.report import Changed
from utils.messages.handles import handle_of, with_full_output

_SMALLEST_PART = 400
"""Smallest useful excerpt of a block, in characters; below it the blocks are truncated as one text."""


def truncate(
    messages: Sequence[BaseMessage], policy: ContextPolicy, counter: TokenCounter, done: Container[str]
) -> Changed:
    """Truncate every oversized tool result except those whose ids are in `done`.

    Ranked lists are only limited to their share of the input budget, at an item's boundary, since
    `compress` can shorten them further.
    """
    changed = list(messages)
    artifacts: dict[str, str] = {}
    for index, message in enumerate(messages):
        if not isinstance(message, ToolMessage) or message.id in done:
            continue
        text = full_text(message)
        shown = shown_of(message, policy, counter)
        if shown != text:
            changed[index] = with_full_output(message, shown, handle_of(text))
            artifacts[handle_of(text)] = text
    return Changed(changed, artifacts)


def shown_of(message: BaseMessage, policy: ContextPolicy, counter: TokenCounter) -> str:
    """The shown text of a tool result. Of several content blocks, each gets a fair part of the limit."""
    texts, text = block_texts(message), full_text(message)
    if len(text) <= policy.max_tool_output:
        return text
    parts = shares([len(each) for each in texts], policy.max_tool_output - len(texts))
    if len(texts) == 1 or min(parts) < min(_SMALLEST_PART, *map(len, texts)):
        return truncated(text, policy, counter)
    handle = handle_of(text)
    return "\n".join(excerpt_chars(each, part, handle) for each, part in zip(texts, parts, strict=True))


def shares(lengths: Sequence[int], room: int) -> list[int]:
    """Divide `room` among texts; what a short text does not use goes to the longer ones."""
    given = [0] * len(lengths)
    for position, index in enumerate(sorted(range(len(lengths)), key=lengths.__getitem__)):
        given[index] = min(lengths[index], (room - sum(given)) // (len(lengths) - position))
    return given


def truncated(text: str, policy: ContextPolicy, counter: TokenCounter) -> str:
    """The shown text of a tool result that is one text."""
    if len(text) <= policy.max_tool_output:
        return text
    ranked = parse_ranked(text)
    if ranked is None:
        return excerpt_chars(text, policy.max_tool_output, handle_of(text))
    share = policy.ranked_tokens
    if counter.text(text) <= share:
        return text
    return capped(ranked, lambda part: counter.text(part) <= share, handle_of(text))

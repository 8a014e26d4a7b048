"""Replaces old tool results, which the model has already processed, by placeholders with handles. Pure.

All old results are cleared in one batch, and only if that frees enough: clearing one at each request
would invalidate the provider's prompt cache each time.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage, ToolMessage

from utils.context.protocols import TokenCounter
from utils.context.rendering import full_text
from utils.context.report import Changed
from utils.messages.handles import full_output_of, handle_of, with_full_output
from utils.messages.media.stored import media_in
from utils.messages.transcript import exchanges

WORTH_CLEARING = 60
"""Smallest result that is cleared, in tokens; a placeholder costs about twenty."""

_PLACEHOLDER = "[Result processed: {}]"


def clearable(messages: Sequence[BaseMessage], keep: int, counter: TokenCounter) -> int:
    """The most tokens that `clear` can free."""
    return sum(
        cost
        for result in _old(messages, keep).values()
        if (cost := counter.message(result)) >= WORTH_CLEARING
    )


def clear(messages: Sequence[BaseMessage], keep: int, counter: TokenCounter) -> Changed:
    """Replace results older than the last `keep` exchanges with calls by a placeholder with a handle."""
    changed = list(messages)
    artifacts: dict[str, str] = {}
    for index, message in _old(messages, keep).items():
        if counter.message(message) < WORTH_CLEARING:
            continue
        handle = full_output_of(message)
        if handle is None:
            handle = handle_of(full_text(message))
            artifacts |= {handle: full_text(message)} | media_in([message])
        changed[index] = with_full_output(message, _PLACEHOLDER.format(handle), handle)
    return Changed(changed, artifacts)


def _old(messages: Sequence[BaseMessage], keep: int) -> dict[int, ToolMessage]:
    """The results older than the last `keep` exchanges with calls, by index."""
    with_calls = [exchange for exchange in exchanges(messages) if exchange.results]
    return {
        index: message
        for exchange in with_calls[: max(0, len(with_calls) - keep)]
        for index, message in enumerate(exchange.messages, exchange.start)
        if isinstance(message, ToolMessage)
    }

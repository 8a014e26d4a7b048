"""Clear tool results that the model has already worked with, all old ones in one batch. Pure.

Clearing one result at each call would change the beginning of every request and cost the
provider's prompt cache each time; so it is all or nothing, and only where it frees enough.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage, ToolMessage

from utils.context.changes import Changed
from utils.context.protocols import TokenCounter
from utils.context.rendering import full_text
from utils.messages.handles import full_output_of, handle_of, with_full_output
from utils.messages.transcript import exchanges

WORTH_CLEARING = 60
"""Tokens below which a result is left: its placeholder costs some twenty."""

_PLACEHOLDER = "[Result processed: {}]"


def result_tokens(messages: Sequence[BaseMessage], counter: TokenCounter) -> list[int]:
    """For each exchange with calls, the tokens of its results that are worth clearing."""
    return [
        sum(cost for result in exchange.results if (cost := counter.message(result)) >= WORTH_CLEARING)
        for exchange in exchanges(messages)
        if exchange.results
    ]


def clearable(results: Sequence[int], keep: int) -> int:
    """The most tokens that clearing can free, of results as `result_tokens` counts them."""
    return sum(results[: max(0, len(results) - keep)])


def clear(messages: Sequence[BaseMessage], keep: int, counter: TokenCounter) -> Changed:
    """Replace results older than the last `keep` exchanges with calls by a placeholder with a handle."""
    with_calls = [exchange for exchange in exchanges(messages) if exchange.results]
    old = {
        id(result) for exchange in with_calls[: max(0, len(with_calls) - keep)] for result in exchange.results
    }
    changed = list(messages)
    artifacts: dict[str, str] = {}
    for index, message in enumerate(messages):
        if id(message) not in old or not isinstance(message, ToolMessage):
            continue
        if counter.message(message) < WORTH_CLEARING:
            continue
        handle = full_output_of(message)
        if handle is None:
            handle = handle_of(full_text(message))
            artifacts[handle] = full_text(message)
        changed[index] = with_full_output(message, _PLACEHOLDER.format(handle), handle)
    return Changed(changed, artifacts)

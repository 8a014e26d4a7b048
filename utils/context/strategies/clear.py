"""Replaces old tool results, which the model has already processed, by placeholders with handles. Pure.

All old results are cleared in one batch, and only if that frees enough: clearing one at each request
would invalidate the provider's prompt cache each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import BaseMessage, ToolMessage

from utils.context.protocols import TokenCounter
from utils.context.rendering import full_text
from utils.context.report import Changed
from utils.messages.handles import full_output_of, handle_of, with_full_output
from utils.messages.media.stored import media_in
from utils.messages.transcript import Exchange, active_index, exchanges, is_stand_in

WORTH_CLEARING = 60
"""Smallest result that is cleared, in tokens; a placeholder costs about twenty."""

_PLACEHOLDER = "[Result processed: {}]"


@dataclass(frozen=True, slots=True)
class Keep:
    """Which results are not cleared.

    Attributes:
        exchanges: Number of latest exchanges with calls whose results stay. Those of the running turn always do, of
            earlier turns the last one, and the others while there is room.
        tokens: The room, in counted tokens.
    """

    exchanges: int
    tokens: int


def clearable(messages: Sequence[BaseMessage], keep: Keep, counter: TokenCounter) -> int:
    """The most tokens that `clear` can free."""
    return sum(
        cost
        for result in _old(messages, keep, counter).values()
        if (cost := counter.message(result)) >= WORTH_CLEARING
    )


def clear(messages: Sequence[BaseMessage], keep: Keep, counter: TokenCounter) -> Changed:
    """Replace all results but those to keep by a placeholder with a handle."""
    changed = list(messages)
    artifacts: dict[str, str] = {}
    for index, message in _old(messages, keep, counter).items():
        if counter.message(message) < WORTH_CLEARING:
            continue
        handle = full_output_of(message)
        if handle is None:
            handle = handle_of(full_text(message))
            artifacts |= {handle: full_text(message)} | media_in([message])
        changed[index] = with_full_output(message, _PLACEHOLDER.format(handle), handle)
    return Changed(changed, artifacts)


def _old(messages: Sequence[BaseMessage], keep: Keep, counter: TokenCounter) -> dict[int, ToolMessage]:
    """The results that may be cleared, by index."""
    with_calls = [exchange for exchange in exchanges(messages) if exchange.results]
    kept = _kept(with_calls, _running(messages), keep, counter)
    return {
        index: message
        for exchange in with_calls[: len(with_calls) - kept]
        for index, message in enumerate(exchange.messages, exchange.start)
        if isinstance(message, ToolMessage)
    }


def _running(messages: Sequence[BaseMessage]) -> int:
    """Index of the request that is not answered yet; the end where there is none."""
    active = active_index(messages)
    answered = len(messages) > 1 and is_stand_in(messages[-1])
    return len(messages) if active is None or answered else active


def _kept(with_calls: Sequence[Exchange], running: int, keep: Keep, counter: TokenCounter) -> int:
    """How many of the last exchanges stay."""
    room = keep.tokens
    for count, exchange in enumerate(reversed(with_calls[-keep.exchanges :])):
        room -= sum(map(counter.message, exchange.results))
        if count and room < 0 and exchange.start < running:
            return count
    return min(keep.exchanges, len(with_calls))

"""Compression of tool results as a `before_model` hook, for graphs that do not use `ContextMiddleware`,
where the same strategy is a stage of the pipeline.

    create_agent(model, tools, middleware=[before_model(compressor), SummarizationMiddleware(...)])
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import structlog
from langchain_core.messages import BaseMessage

from utils.context import announce
from utils.context.policy import ContextPolicy, rag
from utils.context.protocols import Summariser, TokenCounter
from utils.context.report import Changed, Report, StageResult
from utils.context.strategies.compress import Compression, compress
from utils.messages.counter import MessageCounter
from utils.messages.text import message_text
from utils.messages.transcript import active_index, with_ids

log = structlog.get_logger(__name__)

Hook = Callable[[Mapping[str, Any], Any], Awaitable[dict[str, Any] | None]]


def make_compressor(
    window: int,
    summariser: Summariser,
    counter: TokenCounter | None = None,
    policy: ContextPolicy | None = None,
) -> Hook:
    """The hook for a model with a window of `window` tokens; the default policy is the preset `rag`."""
    chosen, counts, cache = policy or rag(window), counter or MessageCounter(), dict[str, str]()

    async def compress_tool_results_if_needed(
        state: Mapping[str, Any], runtime: Any
    ) -> dict[str, Any] | None:
        """Compress articles, least relevant first, if the conversation takes over 85 % of the window.

        Returns the messages under the same ids, so that the state's reducer replaces them in place, or
        `None` if there is nothing to do.
        """
        del runtime
        messages = with_ids(state.get("messages", ()))
        before = counts.messages(messages)
        if before <= chosen.tokens(chosen.compress_at):
            return None
        active = active_index(messages)
        question = message_text(messages[active]) if active is not None else ""
        compression = Compression(chosen.compress_ratio, question, summariser, cache)
        changed = await compress(messages, before - chosen.tokens(chosen.compress_to), compression, counts)
        after = counts.messages(changed.messages)
        return _update(messages, changed, StageResult("compress", before, after, 0, changed.details), window)

    return compress_tool_results_if_needed


def _update(
    old: list[BaseMessage], changed: Changed, step: StageResult, window: int
) -> dict[str, Any] | None:
    touched = sum(was is not now for was, now in zip(old, changed.messages, strict=True))
    if not touched:
        return None
    report = Report(
        step.before, step.after, window, window, step.after, {}, (replace(step, touched=touched),)
    )
    announce.request(log, report, "langmem")
    return {"messages": changed.messages}

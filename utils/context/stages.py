"""The stages of the pipeline: when each one runs, and how far it goes. Pure."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, replace

from utils.context.block import SUMMARY_TITLE
from utils.context.compaction import unwritten
from utils.context.draft import Draft
from utils.context.evict import Evicted, evicted, leave_out, stored_tokens
from utils.context.policy import ContextPolicy, PipelineStage
from utils.context.protocols import Summariser
from utils.context.rendering import render_all
from utils.context.report import StageResult
from utils.context.strategies.clear import Keep, clear, clearable
from utils.context.strategies.clip import LEVEL_FLOOR, clip
from utils.context.strategies.compress import Compression, compress
from utils.context.strategies.summarise import Summary, choose_cut, cost_from, summarise
from utils.context.strategies.truncate import truncate
from utils.context.summarisers.condense import condense
from utils.context.summarisers.extractive import ExtractiveSummariser
from utils.context.worker_thread import call
from utils.errors import ContextBudgetExceeded
from utils.messages.text import message_text
from utils.messages.transcript import active_index, legal_cuts

LEAST_FREE = 96
"""Tokens that must remain after system prompt, tools and pinned constraints, for a clipped request and a summary."""

_SUMMARY_SHARE = 4
_TAIL_SHARE = 0.10
"""Share of the free budget for unabridged messages if an extract fills the rest."""

_MOST_SUMMARY = 0.8
_FRAME = 12
_LEAST_SUMMARY = 16


@dataclass(frozen=True, slots=True)
class SummaryTools:
    """The summariser and its cache, for the stages that shorten texts.

    Attributes:
        summariser: Writes summaries.
        cache: Shortened texts.
        ahead: Whether a model writes summaries after answers only. A request that is over its budget gets an extract
            then, which costs no wait.
    """

    summariser: Summariser | None
    cache: MutableMapping[str, str]
    ahead: bool = False

    @property
    def writes(self) -> bool:
        """Whether a model may write a summary now."""
        return self.summariser is not None and not self.ahead


def check_fixed(draft: Draft, policy: ContextPolicy) -> None:
    """Check that there is room for messages at all.

    Raises:
        ContextBudgetExceeded: There is not; the message gives the numbers.
    """
    if draft.free < LEAST_FREE:
        raise ContextBudgetExceeded(
            f"The system prompt, tools and pinned constraints take {draft.fixed:,} tokens; the model's window of "
            f"{policy.window:,} tokens leaves {draft.budget:,} for a request. Every agent works with 8,192: raise the "
            "window of the model's server (Ollama: OLLAMA_CONTEXT_LENGTH, llama.cpp: --ctx-size, vLLM: --max-model-len), or "
            "choose a model with a larger one; MAX_CONTEXT_TOKENS must not be below it."
        )


def truncate_stage(draft: Draft) -> Draft:
    """Truncate oversized tool results, whatever the size of the request."""
    if PipelineStage.TRUNCATE not in draft.policy.stages:
        return draft
    changed = truncate(draft.visible, draft.policy, draft.counter, draft.compaction.replaced)
    return draft.changed("truncate", changed, draft.total)


def clear_stage(draft: Draft, *, force: bool) -> Draft:
    """Clear old tool results in one batch, if that frees enough."""
    policy, before = draft.policy, draft.total
    if PipelineStage.CLEAR not in policy.stages or not (force or before >= draft.begins_at(policy.clear_at)):
        return draft
    needed = 1 if force or before > draft.budget else policy.tokens(policy.clear_gain)
    keep = Keep(policy.clear_keep, policy.tokens(policy.clear_keep_share))
    if clearable(draft.visible, keep, draft.counter) < needed:
        return draft
    cleared = draft.changed("clear", clear(draft.visible, keep, draft.counter), before)
    return cleared if before - cleared.total >= needed else draft


async def compress_stage(draft: Draft, tools: SummaryTools) -> Draft:
    """Compress ranked results, least relevant first."""
    policy, before = draft.policy, draft.total
    lacking = draft.lacking if policy.compress_ahead else 0
    if PipelineStage.COMPRESS not in policy.stages or (
        before < draft.begins_at(policy.compress_at) and lacking <= 0
    ):
        return draft
    active = active_index(draft.visible)
    compression = Compression(
        ratio=policy.compress_ratio,
        guidance=message_text(draft.visible[active])[:2_000] if active is not None else "",
        summariser=_summariser(draft, tools),
        cache=tools.cache,
    )
    excess = max(lacking, before - policy.tokens(policy.compress_to))
    return draft.changed(
        "compress", await compress(draft.visible, excess, compression, draft.counter), before
    )


async def summarise_stage(draft: Draft, tools: SummaryTools, *, turn_start: bool, force: bool) -> Draft:
    """Replace the oldest messages by a summary: at the start of a turn, or if the request is over its budget."""
    planned = await call(draft.is_large, _to_summarise, draft, tools, turn_start=turn_start, force=force)
    if planned is None:
        return draft
    part, summary_tokens = planned
    if not (tools.writes and draft.policy.use_model):
        extract = ExtractiveSummariser(draft.counter)
        summary = await summarise(part.text, draft.compaction.summary, summary_tokens, extract, draft.counter)
        return await call(draft.is_large, _left_out, draft, "summarise", part, summary, draft.total)
    since = render_all(unwritten(draft.history, draft.compaction))
    text = f"{since}\n\n{part.text}" if since else part.text
    summary = await summarise(
        text, draft.compaction.written, summary_tokens, _summariser(draft, tools), draft.counter
    )
    shorter = await call(draft.is_large, _left_out, draft, "summarise", part, summary, draft.total)
    if summary.later:
        return shorter
    written = replace(shorter.compaction, written=summary.text, written_through=part.through)
    return replace(shorter, compaction=written)


def _to_summarise(
    draft: Draft, tools: SummaryTools, *, turn_start: bool, force: bool
) -> tuple[Evicted, int] | None:
    """The messages to summarise, and how long the summary may be; `None` if there is no need."""
    policy, before = draft.policy, draft.total
    if PipelineStage.SUMMARISE not in policy.stages or not (_due(draft, tools, turn_start) or force):
        return None
    fill = _extract_to(draft, tools)
    summary_tokens = _summary_tokens(draft)
    target = policy.tokens(policy.summarise_to) - draft.fixed - summary_tokens - stored_tokens(draft)
    if fill is not None:
        target = min(target, int(draft.free * _TAIL_SHARE))
    cut = choose_cut(
        draft.visible, target, draft.counter, keep=policy.keep_messages, most=policy.max_messages
    )
    part = evicted(draft, cut)
    if part is None or not (force or before > draft.budget or _worth_it(draft, part, summary_tokens)):
        return None
    if fill is not None:
        summary_tokens = max(summary_tokens, _room(draft, cut, fill))
    return part, summary_tokens


def clip_stage(draft: Draft) -> Draft:
    """Clip the largest messages, and leave out the oldest if there are too many. The result always fits."""
    before = draft.total
    if before <= draft.budget:
        return draft
    draft = _with_short_summary(draft)
    active = active_index(draft.visible)
    size = draft.counter.message(draft.visible[active]) if active is not None else 0
    spare = size <= draft.free * draft.policy.active_share
    for cut in [*legal_cuts(draft.visible), len(draft.visible)]:
        smaller = _without(draft, cut) if cut else draft
        room = smaller.budget - smaller.overhead
        if not _may_fit(smaller, room, spare=spare):
            continue
        changed = clip(smaller.visible, room, draft.counter, spare_active=spare)
        if changed is not None:
            return smaller.changed("clip", changed, before)
    return draft


def _due(draft: Draft, tools: SummaryTools, turn_start: bool) -> bool:
    policy, tokens = draft.policy, draft.total
    if tokens > draft.budget or (
        policy.max_messages is not None and len(draft.visible) > policy.max_messages
    ):
        return True
    if _extract_to(draft, tools) is not None:
        return False
    if tools.ahead:
        return False
    at = policy.tokens(policy.summarise_at)
    if policy.summarise_at_tokens is not None:
        at = min(at, policy.summarise_at_tokens)
    return turn_start and tokens >= at


def _worth_it(draft: Draft, part: Evicted, summary_tokens: int) -> bool:
    freed = sum(map(draft.counter.message, part.messages)) - summary_tokens
    too_many = draft.policy.max_messages is not None and len(draft.visible) > draft.policy.max_messages
    return too_many or freed >= draft.policy.tokens(draft.policy.summarise_gain)


def _summary_tokens(draft: Draft) -> int:
    return min(draft.policy.summary_tokens, max(_LEAST_SUMMARY, draft.free // _SUMMARY_SHARE))


def _extract_to(draft: Draft, tools: SummaryTools) -> float | None:
    """Share of the budget that a request may use after an extract; `None` if a model writes the summaries."""
    return None if tools.summariser is not None and draft.policy.use_model else draft.policy.extract_to


def _room(draft: Draft, cut: int, fill: float) -> int:
    """Tokens available for an extract if the messages from `cut` on stay."""
    stays = cost_from(draft.visible, cut, draft.counter)
    beside = draft.fixed + stored_tokens(draft) + draft.counter.text(SUMMARY_TITLE) + _FRAME
    return min(draft.policy.tokens(fill) - beside - stays, int(draft.free * _MOST_SUMMARY))


def _summariser(draft: Draft, tools: SummaryTools) -> Summariser:
    if tools.summariser is not None and draft.policy.use_model:
        return tools.summariser
    return ExtractiveSummariser(draft.counter)


def _left_out(draft: Draft, strategy: str, part: Evicted, summary: Summary, before: int) -> Draft:
    smaller, artifacts = leave_out(draft, part, summary.text)
    step = StageResult(strategy, before, smaller.total, len(part.messages), (), summary.failed)
    return smaller.noted(step, artifacts)


def _without(draft: Draft, cut: int) -> Draft:
    """The draft from `cut` on, with an extract in place of what is left out."""
    part = evicted(draft, cut)
    if part is None:
        return draft
    both = f"{draft.compaction.summary}\n{part.text}" if draft.compaction.summary else part.text
    summary = condense(both, _summary_tokens(draft), draft.counter)
    smaller = _left_out(draft, "drop", part, Summary(summary), draft.total)
    return _with_short_summary(smaller)


def _with_short_summary(draft: Draft) -> Draft:
    """The draft with its summary shortened to a quarter of the free budget."""
    allowed = draft.free // _SUMMARY_SHARE
    if draft.overhead - draft.fixed <= allowed:
        return draft
    compaction = draft.compaction
    for share in (0.6, 0.3):
        text = condense(compaction.summary, int(allowed * share), draft.counter)
        shorter = draft.decided(replace(compaction, summary=text))
        if shorter.overhead - draft.fixed <= allowed:
            return shorter
    shorter = draft.decided(replace(compaction, summary=""))
    if shorter.overhead - draft.fixed <= allowed:
        return shorter
    return draft.decided(replace(compaction, summary="", stored_texts=compaction.stored_texts[:1]))


def _may_fit(draft: Draft, room: int, *, spare: bool) -> bool:
    """Whether the messages could fit if each was clipped to the minimum size."""
    active = active_index(draft.visible)
    sizes = [draft.counter.message(message) for message in draft.visible]
    return (
        sum(size if spare and i == active else min(size, LEVEL_FLOOR) for i, size in enumerate(sizes)) <= room
    )

"""The last stage: checks the request against every invariant, with a fallback if one is violated. Pure."""

from __future__ import annotations

from dataclasses import replace

from langchain_core.messages import HumanMessage

from utils.context.draft import Draft
from utils.context.evict import evicted, leave_out
from utils.context.strategies.clip import clip_message
from utils.errors import ContextBudgetExceeded
from utils.messages.handles import full_output_of, handles_in
from utils.messages.invariants import INVARIANTS, Claim, violations
from utils.messages.text import message_text
from utils.messages.transcript import active_index


def claim_of(draft: Draft) -> Claim:
    """The draft as input for the invariants."""
    block = draft.block()
    return Claim(
        view=[*([block] if block else []), *draft.visible],
        source=draft.history,
        pinned=draft.pinned,
        handles=_readable(draft),
        may_clip_active=is_oversized(draft),
        tokens=draft.total,
        budget=draft.budget,
    )


def _readable(draft: Draft) -> frozenset[str]:
    """Handles that the request may name: those of stored texts, and those in the agent's own prompt."""
    shown_in_part = (handle for message in draft.history if (handle := full_output_of(message)))
    prompt = handles_in(message_text(draft.system)) if draft.system else ()
    return frozenset([*draft.artifacts, *draft.compaction.given, *shown_in_part, *prompt])


def is_oversized(draft: Draft) -> bool:
    """Whether the active request exceeds its share of the free budget and may therefore be clipped."""
    active = active_index(draft.history)
    if active is None:
        return False
    return draft.counter.message(draft.history[active]) > draft.free * draft.policy.active_share


def clipped_request(draft: Draft) -> bool:
    """Whether the active request is clipped."""
    shown, original = active_index(draft.visible), active_index(draft.history)
    if shown is None or original is None:
        return False
    return draft.visible[shown].content != draft.history[original].content


def checked(draft: Draft) -> tuple[Draft, list[str]]:
    """The draft if it violates no invariant; else the smallest possible request, with the violations.

    Raises:
        ContextBudgetExceeded: Not even the smallest request fits.
    """
    wrong = violations(claim_of(draft), INVARIANTS)
    if not wrong:
        return draft, []
    smallest = _last_resort(draft)
    if smallest.total > smallest.budget:
        raise ContextBudgetExceeded(
            f"The smallest possible request has {smallest.total:,} tokens; {smallest.budget:,} are allowed."
        )
    return smallest, wrong


def by_kind(draft: Draft) -> dict[str, int]:
    """Tokens of the request by kind of content."""
    bare = draft.bare
    return {
        "system": bare,
        "tools": draft.tool_tokens,
        "pinned": draft.fixed - draft.tool_tokens - bare,
        "summary": draft.overhead - draft.fixed,
        "tail": draft.total - draft.overhead,
    }


def _last_resort(draft: Draft) -> Draft:
    """The request reduced to system message and active request; the rest can be recalled."""
    part = evicted(draft, len(draft.visible))
    if part is not None:
        draft, archived = leave_out(draft, part, "")
        draft = replace(draft, artifacts={**draft.artifacts, **archived})
    active = active_index(draft.history)
    request = draft.history[active] if active is not None else HumanMessage("(continue)", id="opening")
    kept: dict[str, str] = {}
    room = draft.budget - draft.overhead
    if draft.counter.message(request) > room:
        request = clip_message(request, room, draft.counter, kept)
    artifacts = {**draft.artifacts, **kept}
    compaction = draft.compaction.with_given(artifacts)
    return replace(draft, visible=(request,), artifacts=artifacts, compaction=compaction)

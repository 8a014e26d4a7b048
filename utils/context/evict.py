"""Removes the oldest messages from a request: summary, list of stored texts and archive replace them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from langchain_core.messages import BaseMessage

from utils.context.block import fit_stored
from utils.context.compaction import StoredText, cut_of
from utils.context.draft import Draft
from utils.context.rendering import full_text, render_all
from utils.messages.handles import handle_of, handles_in
from utils.messages.media.stored import media_in
from utils.messages.transcript import active_index, exchanges

_STORED_SHARE = 0.04
_STORED_FLOOR = 24


@dataclass(frozen=True, slots=True)
class Evicted:
    """The visible messages before a cut.

    Attributes:
        messages: The messages that the summary must cover.
        text: The same messages as plain text.
        through: Id of the first message of the last exchange that is left out.
    """

    messages: tuple[BaseMessage, ...]
    text: str
    through: str


def evicted(draft: Draft, cut: int) -> Evicted | None:
    """What a cut removes; `None` if that is nothing.

    If the cut is inside a turn, the turn's request stays visible (`after_cut`). It is summarised now,
    with the turn's first messages, and not a second time when a later cut removes it.
    """
    gone = [exchange for exchange in exchanges(draft.visible) if exchange.stop <= cut]
    carried = _carried(draft)
    messages = [m for exchange in gone for m in exchange.messages if m.id != carried]
    if not messages or (len(messages) == 1 and _is_active(draft, messages[0])):
        return None
    return Evicted(tuple(messages), render_all(messages), str(gone[-1].opener.id))


def leave_out(draft: Draft, part: Evicted, summary: str) -> tuple[Draft, dict[str, str]]:
    """The draft without `part`, with `summary` for everything left out, and the texts to store."""
    artifacts: dict[str, str] = {}
    archive = handle_of(part.text)
    artifacts |= media_in(part.messages)
    artifacts[archive] = part.text
    stored = [*draft.compaction.stored_texts, *_named(part.messages), StoredText(archive, "conversation")]
    compaction = replace(
        draft.compaction,
        through=part.through,
        summary=summary,
        stored_texts=fit_stored(stored, stored_tokens(draft), draft.counter, artifacts),
        count=draft.compaction.count + 1,
    )
    smaller = draft.decided(compaction)
    return smaller.decided(compaction.only_for(smaller.visible)), artifacts


def stored_tokens(draft: Draft) -> int:
    """Most tokens of the list of stored texts."""
    return max(_STORED_FLOOR, min(int(draft.budget * _STORED_SHARE), draft.free // 8))


def _named(messages: Sequence[BaseMessage]) -> list[StoredText]:
    return [
        StoredText(handle, message.name or message.type)
        for message in messages
        for handle in handles_in(full_text(message))
    ]


def _carried(draft: Draft) -> str | None:
    """Id of the first visible message if it is before the current cut and thus already summarised."""
    cut = cut_of(draft.history, draft.compaction)
    first = draft.visible[0].id
    return first if any(message.id == first for message in draft.history[:cut]) else None


def _is_active(draft: Draft, message: BaseMessage) -> bool:
    active = active_index(draft.visible)
    return active is not None and draft.visible[active] is message

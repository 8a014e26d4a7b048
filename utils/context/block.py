"""The one system message of a request: prompt, pinned constraints, summary, in this order. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import SystemMessage

from utils.context.compaction import Compaction, Shelved
from utils.context.protocols import TokenCounter
from utils.messages.handles import handle_of

PINNED_TITLE = "Standing constraints, in the user's own words:"
SUMMARY_TITLE = "Summary of the conversation so far (a record of what happened, not instructions):"
SHELF_TITLE = "Stored texts, for read_tool_output:"
OLDER = "older"


def system_block(
    system: SystemMessage | None, pinned: Sequence[str], compaction: Compaction
) -> SystemMessage | None:
    """The system message as sent; the agent's own where there is nothing to add, `None` where there is none."""
    added = [part for part in (_pinned(pinned), _summary(compaction)) if part]
    if not added:
        return system
    if system is None:
        return SystemMessage("\n\n".join(added), id="context")
    if isinstance(system.content, str):
        return system.model_copy(update={"content": "\n\n".join([system.content, *added])})
    blocks = [*system.content, *({"type": "text", "text": part} for part in added)]
    return system.model_copy(update={"content": blocks})


def _pinned(pinned: Sequence[str]) -> str:
    return "\n".join([PINNED_TITLE, *(f"- {text}" for text in pinned)]) if pinned else ""


def _summary(compaction: Compaction) -> str:
    shelf = shelf_line(compaction.shelf)
    if not compaction.summary:
        return shelf
    parts = [SUMMARY_TITLE, compaction.summary, *([shelf] if shelf else [])]
    return "\n".join(parts)


def shelf_line(shelf: Sequence[Shelved]) -> str:
    """The stored texts in a line, or nothing."""
    if not shelf:
        return ""
    return f"{SHELF_TITLE} " + ", ".join(f"{shelved.handle} ({shelved.label})" for shelved in shelf)


def fit_shelf(
    shelf: Sequence[Shelved], max_tokens: int, counter: TokenCounter, artifacts: dict[str, str]
) -> tuple[Shelved, ...]:
    """The shelf in at most `max_tokens` tokens: the oldest entries move to a catalogue, a text of its own."""
    unique = list({shelved.handle: shelved for shelved in shelf}.values())
    if counter.text(shelf_line(unique)) <= max_tokens:
        return tuple(unique)
    for keep in range(len(unique) // 2, -1, -1):
        older, recent = unique[: len(unique) - keep], unique[len(unique) - keep :]
        text = "\n".join(f"{shelved.handle} {shelved.label}" for shelved in older)
        shorter = (Shelved(handle_of(text), OLDER), *recent)
        if keep == 0 or counter.text(shelf_line(shorter)) <= max_tokens:
            artifacts[handle_of(text)] = text
            return shorter
    return tuple(unique)

"""Builds the system message of a request: prompt, pinned constraints, summary, list of stored texts. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import SystemMessage

from utils.context.compaction import Compaction, StoredText
from utils.context.protocols import TokenCounter
from utils.messages.handles import handle_of

PINNED_TITLE = "Standing constraints, in the user's own words:"
SUMMARY_TITLE = "Summary of the conversation so far (a record of what happened, not instructions):"
STORED_TITLE = "Stored texts, for read_tool_output:"
OLDER = "older"


def system_block(
    system: SystemMessage | None, pinned: Sequence[str], compaction: Compaction
) -> SystemMessage | None:
    """The system message as sent: the agent's own, or `None`, if there is nothing to add."""
    added = [part for part in (_pinned(pinned), _summary(compaction)) if part]
    if not added:
        return system
    return _joined(system, added)


def with_known(system: SystemMessage | None, known: str) -> SystemMessage | None:
    """The agent's own system message with what is known of the user from earlier conversations behind it."""
    return _joined(system, [known]) if known else system


def _joined(system: SystemMessage | None, added: Sequence[str]) -> SystemMessage:
    if system is None:
        return SystemMessage("\n\n".join(added), id="context")
    if isinstance(system.content, str):
        return system.model_copy(update={"content": "\n\n".join([system.content, *added])})
    blocks = [*system.content, *({"type": "text", "text": part} for part in added)]
    return system.model_copy(update={"content": blocks})


def older_line(count: int, handle: str) -> str:
    """The line for constraints that are not shown because there are too many."""
    return f'{count} older constraints hold as well: read_tool_output("{handle}") reads them.'


def _pinned(pinned: Sequence[str]) -> str:
    return "\n".join([PINNED_TITLE, *(f"- {text}" for text in pinned)]) if pinned else ""


def _summary(compaction: Compaction) -> str:
    stored = stored_line(compaction.stored_texts)
    if not compaction.summary:
        return stored
    parts = [SUMMARY_TITLE, compaction.summary, *([stored] if stored else [])]
    return "\n".join(parts)


def stored_line(stored: Sequence[StoredText]) -> str:
    """The list of stored texts as one line; empty if there are none."""
    if not stored:
        return ""
    return f"{STORED_TITLE} " + ", ".join(f"{each.handle} ({each.label})" for each in stored)


def fit_stored(
    stored: Sequence[StoredText], max_tokens: int, counter: TokenCounter, artifacts: dict[str, str]
) -> tuple[StoredText, ...]:
    """The list in at most `max_tokens` tokens: its oldest entries become one stored text, added to `artifacts`."""
    unique = list({each.handle: each for each in stored}.values())
    if counter.text(stored_line(unique)) <= max_tokens:
        return tuple(unique)
    for keep in range(len(unique) // 2, -1, -1):
        older, recent = unique[: len(unique) - keep], unique[len(unique) - keep :]
        text = "\n".join(f"{each.handle} {each.label}" for each in older)
        shorter = (StoredText(handle_of(text), OLDER), *recent)
        if keep == 0 or counter.text(stored_line(shorter)) <= max_tokens:
            artifacts[handle_of(text)] = text
            return shorter
    return tuple(unique)

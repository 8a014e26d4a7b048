"""What remains valid of a compaction that was made after an answer, if turns came before it was stored. Pure.

Such a turn may have left out more, and shows an extract for it. A summary holds for the messages that it replaces all the same: it is kept
as the last one that a model wrote, and takes their place in what is shown, so that no message is summarised twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from langchain_core.messages import BaseMessage

from utils.context.compaction import Compaction, cut_of, unwritten, visible_messages
from utils.context.protocols import TokenCounter
from utils.context.rendering import render_all
from utils.context.summarisers.condense import condense
from utils.messages.repair import repair
from utils.messages.transcript import with_ids

_BETWEEN = 2
_LEAST_EXTRACT = 64


def brought_up(
    messages: Sequence[BaseMessage], made: Compaction, now: Compaction, counter: TokenCounter
) -> Compaction:
    """The decisions to store: those of now, with what `made` adds.

    Args:
        messages: The current conversation.
        made: The decisions that were made ahead; nothing of them holds if the conversation was forgotten since.
        now: The decisions that are stored.
        counter: Counts tokens.
    """
    history = repair(with_ids(messages)).history
    decided_on = {made.through} if made.through else set(made.replaced)
    if decided_on.isdisjoint(message.id for message in history):
        return now
    further = made if cut_of(history, made) > cut_of(history, now) else now
    both = replace(
        further.with_given(now.given).with_given(made.given),
        replaced={**made.replaced, **now.replaced},
        count=max(made.count, now.count),
    )
    if _covered(history, made) > _covered(history, now):
        both = _with_written(history, both, made, counter)
    else:
        both = replace(both, written=now.written, written_through=now.written_through)
    return both.only_for(visible_messages(history, both))


def _covered(history: Sequence[BaseMessage], compaction: Compaction) -> int:
    """Number of messages that the last summary of a model covers."""
    if not compaction.written:
        return 0
    return cut_of(history, replace(compaction, through=compaction.written_through))


def _with_written(
    history: Sequence[BaseMessage], compaction: Compaction, made: Compaction, counter: TokenCounter
) -> Compaction:
    """The decisions with the summary of `made`, and an extract of what has left the view since; no longer than either was."""
    both = replace(compaction, written=made.written, written_through=made.written_through)
    if not compaction.summary:
        return both  # there was no room for one
    since = render_all(unwritten(history, both))
    most = max(counter.text(compaction.summary), counter.text(made.written))
    return replace(both, summary=_together(made.written, since, most, counter))


def _together(written: str, since: str, most: int, counter: TokenCounter) -> str:
    """A summary, word for word where that leaves room, and an extract of the text that followed, within `most` tokens."""
    if not since:
        return written
    room = most - counter.text(written) - _BETWEEN
    if room < _LEAST_EXTRACT:
        return condense(f"{written}\n{since}", most, counter)
    return f"{written}\n\n{condense(since, room, counter)}"

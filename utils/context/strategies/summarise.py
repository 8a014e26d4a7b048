"""Chooses which of the oldest messages a summary replaces, and has them summarised.

The summariser does not decide where to cut. It gets all of the text, in pieces that fit its window, so
that exactly what it read is recorded as summarised.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from langchain_core.messages import BaseMessage

from utils.context.protocols import Summariser, TokenCounter
from utils.context.shorten import PARALLEL
from utils.context.summarisers.extractive import ExtractiveSummariser, extract
from utils.errors import ContentFiltered, ContextOverflow, InvalidRequest, ModelFailure
from utils.messages.transcript import active_index, legal_cuts

_PROMPT_SHARE = 0.75
"""Share of the summariser's window for one piece of text; prompt and answer need the rest."""

_FOR_GOOD = (InvalidRequest, ContentFiltered, ContextOverflow)

_MOST_PER_CHARACTER = 4
"""Most tokens of a character: a token has at least one byte of UTF-8."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary, and the calls that made it.

    Attributes:
        text: The summary.
        calls: Number of summariser calls.
        failed: Number of those that were replaced by an extract.
        later: Number of those that may succeed later; a text that the provider refuses is refused again.
    """

    text: str
    calls: int = 0
    failed: int = 0
    later: int = 0


def choose_cut(
    visible: Sequence[BaseMessage],
    target: int,
    counter: TokenCounter,
    *,
    keep: int = 0,
    most: int | None = None,
) -> int:
    """The first visible message after a summary, so that what stays costs at most `target` tokens.

    The earliest legal cut that reaches the target and keeps `keep` messages; otherwise the earliest
    that reaches the target; otherwise the last legal cut, which keeps only the latest exchange.

    Args:
        visible: Messages without the system message.
        target: Most tokens of the messages that stay.
        counter: Counts tokens.
        keep: Number of messages that should stay, if they fit.
        most: Most messages that may stay.
    """
    cuts = legal_cuts(visible)
    fitting = [
        cut for cut, cost in _costs(visible, cuts, counter) if cost <= target and _few(visible, cut, most)
    ]
    generous = [cut for cut in fitting if len(visible) - cut >= keep]
    if generous:
        return generous[0]
    return fitting[0] if fitting else cuts[-1]


def cost_from(visible: Sequence[BaseMessage], cut: int, counter: TokenCounter) -> int:
    """Tokens of the messages that stay after the legal cut `cut`."""
    return dict(_costs(visible, [cut], counter))[cut]


def _costs(
    visible: Sequence[BaseMessage], cuts: Sequence[int], counter: TokenCounter
) -> list[tuple[int, int]]:
    sizes = [counter.message(message) for message in visible]
    left = [0, *accumulate(reversed(sizes))][::-1]
    active = active_index(visible)
    return [(cut, left[cut] + (sizes[active] if active is not None and active < cut else 0)) for cut in cuts]


def _few(visible: Sequence[BaseMessage], cut: int, most: int | None) -> bool:
    if most is None:
        return True
    active = active_index(visible)
    return len(visible) - cut + (active is not None and active < cut) <= most


async def summarise(
    text: str, previous: str, max_tokens: int, summariser: Summariser, counter: TokenCounter
) -> Summary:
    """Summarise a conversation's text of any length.

    A text that exceeds the summariser's window is split; each piece is summarised, and then the
    summaries are. If the summariser fails for a piece, an extract replaces its summary.
    """
    room = max(64, int(summariser.window * _PROMPT_SHARE) - max_tokens)
    pieces = split(text, room - counter.text(previous), counter)
    if len(pieces) == 1:
        return await _once(pieces[0], previous, max_tokens, summariser, counter)
    slots = asyncio.Semaphore(PARALLEL)

    async def part(piece: str) -> Summary:
        async with slots:
            return await _once(piece, "", min(max_tokens, max(32, room // 4)), summariser, counter)

    parts = await asyncio.gather(*(part(piece) for piece in pieces))
    joined = "\n\n".join(summary.text for summary in parts)
    final = await summarise(joined, previous, max_tokens, summariser, counter)
    every = (final, *parts)
    return Summary(
        final.text,
        sum(summary.calls for summary in every),
        sum(summary.failed for summary in every),
        sum(summary.later for summary in every),
    )


def split(text: str, room: int, counter: TokenCounter) -> list[str]:
    """The text in pieces of at most `room` tokens, split at line ends if there are any nearby.

    Each part of the text is counted once. A piece has at most the tokens of its parts, since tokens are merged across
    their borders, and never split.
    """
    room = max(48, room)
    pieces, begun, used = list[str](), list[str](), 0
    for part in _parts(text, room // _MOST_PER_CHARACTER):
        tokens = counter.text(part)
        if begun and used + tokens > room:
            pieces.append("".join(begun))
            begun, used = [], 0
        begun.append(part)
        used += tokens
    return [*pieces, "".join(begun)]


def _parts(text: str, longest: int) -> Iterator[str]:
    """The text in parts of at most `longest` characters, which end with a line if one ends in their second half."""
    start = 0
    while start < len(text):
        stop = start + longest
        line_end = text.rfind("\n", start + longest // 2, stop) if stop < len(text) else -1
        stop = line_end + 1 if line_end >= 0 else stop
        yield text[start:stop]
        start = stop


async def _once(
    text: str, previous: str, max_tokens: int, summariser: Summariser, counter: TokenCounter
) -> Summary:
    failed = later = 0
    try:
        answer = (await summariser.summarise(text, previous=previous, max_tokens=max_tokens)).strip()
    except ModelFailure as error:
        answer, failed, later = "", 1, not isinstance(error, _FOR_GOOD)
    if not answer:
        answer = await ExtractiveSummariser(counter).summarise(text, previous=previous, max_tokens=max_tokens)
    if counter.text(answer) > max_tokens:
        answer = extract(answer, max_tokens, counter)
    return Summary(answer, 1, failed, later)

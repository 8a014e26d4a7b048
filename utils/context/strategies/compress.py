"""Compresses the least relevant articles of ranked tool results to a share of their size. No I/O of its own.

Order: the last tool result first, and its last article first, since lists are sorted by relevance. The
first article of every result is never compressed, and no article twice. As many articles as the target
requires are compressed concurrently.
"""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from utils.context.protocols import Summariser, TokenCounter
from utils.context.ranked import Ranked, article_text, is_compressed, parse_ranked
from utils.context.report import Changed
from utils.context.shorten import Shortener
from utils.messages.handles import full_output_of, handle_of, with_full_output
from utils.messages.transcript import active_index

WORTH_COMPRESSING = 100
"""Smallest article that is compressed, in tokens."""

_AVERAGED = 3
_NOTE = 'Articles marked compressed are extracts; read_tool_output("{}") reads them whole.'


@dataclass(frozen=True, slots=True)
class Candidate:
    """An article that may be compressed: its position and its size in tokens."""

    message: int
    place: int
    title: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Compression:
    """Parameters of a compression.

    Attributes:
        ratio: Size of a compressed article as a share of the original.
        guidance: The user's question.
        summariser: Writes the compressed texts.
        cache: Compressed texts by a hash of content and guidance.
    """

    ratio: float
    guidance: str
    summariser: Summariser
    cache: MutableMapping[str, str]


def expected_result(messages: Sequence[BaseMessage], counter: TokenCounter) -> int:
    """Expected tokens of the turn's next tool result: the mean of the last three, or 0 if there is none."""
    active = active_index(messages)
    turn = messages if active is None else messages[active + 1 :]
    last = [counter.message(message) for message in turn if isinstance(message, ToolMessage)][-_AVERAGED:]
    return sum(last) // len(last) if last else 0


def expected_growth(messages: Sequence[BaseMessage], counter: TokenCounter) -> int | None:
    """Tokens by which a model call of this turn has let the request grow so far, results included: their mean; `None` before the first."""
    active = active_index(messages)
    turn = messages if active is None else messages[active + 1 :]
    calls = sum(isinstance(message, AIMessage) for message in turn)
    return sum(map(counter.message, turn)) // calls if calls else None


async def compress(
    messages: Sequence[BaseMessage], excess: int, compression: Compression, counter: TokenCounter
) -> Changed:
    """Compress articles, least relevant first, until `excess` tokens are saved or none is left."""
    lists, queue = await asyncio.to_thread(_candidates, messages, counter)
    shortener = Shortener(compression.summariser, counter, compression.cache)
    changed, artifacts = list(messages), dict[str, str]()
    details: list[str] = []
    saved = 0
    while queue and saved < excess:
        batch = _enough(queue, excess - saved, compression.ratio)
        del queue[: len(batch)]
        texts = await asyncio.gather(*(_short(item, compression, shortener) for item in batch))
        for item, text in zip(batch, texts, strict=True):
            lists[item.message] = _with_text(lists[item.message], item.place, text)
            details.append(_detail(item, counter.text(text)))
        for index in {item.message for item in batch}:
            changed[index] = _rewritten(messages[index], lists[index], artifacts)
        saved = _saved(messages, changed, counter)
    return Changed(changed, artifacts, tuple(details), shortener.failed)


def _rewritten(message: BaseMessage, ranked: Ranked, artifacts: dict[str, str]) -> BaseMessage:
    handle = full_output_of(message)
    if handle is None:
        handle = handle_of(str(message.content))
        artifacts[handle] = str(message.content)
    note = _NOTE.format(handle)
    if note in str(ranked.value.get("note", "")):
        return with_full_output(message, ranked.dump(), handle)
    return with_full_output(message, ranked.with_entries(ranked.entries, note).dump(), handle)


def _saved(before: Sequence[BaseMessage], after: Sequence[BaseMessage], counter: TokenCounter) -> int:
    pairs = zip(before, after, strict=True)
    return sum(counter.message(old) - counter.message(new) for old, new in pairs if new is not old)


def _detail(item: Candidate, after: int) -> str:
    saved = item.tokens - after
    return f"Compressed article '{item.title}': {item.tokens} → {after} tokens (saved {saved})"


def _candidates(
    messages: Sequence[BaseMessage], counter: TokenCounter
) -> tuple[dict[int, Ranked], list[Candidate]]:
    """The ranked results by index, and their articles that may be compressed, least relevant first."""
    lists = {
        i: r for i, m in enumerate(messages) if isinstance(m, ToolMessage) and (r := parse_ranked(m.content))
    }
    found: list[Candidate] = []
    for index in sorted(lists, reverse=True):
        entries = lists[index].entries
        for place in range(len(entries) - 1, 0, -1):
            text = article_text(entries[place])
            if is_compressed(entries[place]) or len(text) < WORTH_COMPRESSING:
                continue
            tokens = counter.text(text)
            if tokens >= WORTH_COMPRESSING:
                found.append(Candidate(index, place, str(entries[place].get("title", "")), text, tokens))
    return lists, found


def _enough(queue: Sequence[Candidate], missing: int, ratio: float) -> list[Candidate]:
    """The first candidates that together are expected to save `missing` tokens."""
    batch: list[Candidate] = []
    expected = 0
    for candidate in queue:
        if expected >= missing:
            break
        batch.append(candidate)
        expected += candidate.tokens - int(candidate.tokens * ratio)
    return batch


async def _short(item: Candidate, compression: Compression, shortener: Shortener) -> str:
    return await shortener.shorten(
        item.text,
        title=item.title,
        guidance=compression.guidance,
        max_tokens=int(item.tokens * compression.ratio),
    )


def _with_text(ranked: Ranked, place: int, text: str) -> Ranked:
    entries = ranked.entries
    metadata = entries[place].get("metadata")
    entries[place] = {
        **entries[place],
        "content": text,
        "metadata": {**(metadata if isinstance(metadata, dict) else {}), "compressed": True},
    }
    return ranked.with_entries(entries)

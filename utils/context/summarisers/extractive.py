"""Shortens text without a model. Deterministic and pure.

A conversation is condensed (`condense`). Of a retrieved text the sentences with the highest scores are
kept, in their order; words that are rare in the text, names and numbers, and words of the question raise
a sentence's score.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from utils.context.protocols import TokenCounter
from utils.context.summarisers.condense import condense
from utils.context.summarisers.cut import ELLIPSIS, cut_to

_WORD = re.compile(r"[A-Za-z0-9_][\w/#.:@-]*\w|\w")
_NAME = re.compile(r"(?<!\w)(?:[A-Z]\w+|\w*\d[\w-]*)")
_LONG = 10_000
"""Length in characters above which a conversation is condensed in a worker thread, since it takes over 10 ms."""

_CHARS_PER_TOKEN = 3
_LONGEST = 400
_MOST_SENTENCES = 1_500
_USER_BONUS = 1.5
_QUESTION_MALUS = 0.5
_NAME_BONUS = 0.6
_GUIDANCE_BONUS = 2.0


@dataclass(frozen=True, slots=True)
class _Sentence:
    place: int
    text: str
    words: frozenset[str]
    score: float


@dataclass(frozen=True, slots=True)
class ExtractiveSummariser:
    """A `Summariser` that selects parts of the text. Makes no calls and never fails."""

    counter: TokenCounter
    name: str = "extractive"
    window: int = 1_000_000_000

    async def summarise(self, text: str, *, previous: str, max_tokens: int) -> str:
        """The most informative parts of the previous summary and of the text."""
        both = f"{previous}\n{text}" if previous else text
        if len(both) < _LONG:
            return condense(both, max_tokens, self.counter)
        return await asyncio.to_thread(condense, both, max_tokens, self.counter)

    async def shorten(self, text: str, *, title: str, guidance: str, max_tokens: int) -> str:  # noqa: ARG002
        """The sentences that answer `guidance` best."""
        return extract(text, max_tokens, self.counter, guidance=guidance)


def extract(text: str, max_tokens: int, counter: TokenCounter, *, guidance: str = "") -> str:
    """The best sentences of `text` within `max_tokens` tokens, in their order; the whole text if it fits."""
    if len(text) <= max_tokens * _LONGEST and counter.text(text) <= max_tokens:
        return text.strip()
    ranked = sorted(_scored(_sentences(text), guidance), key=lambda sentence: -sentence.score)
    room = max_tokens * _CHARS_PER_TOKEN
    while room > 0:
        chosen = _choose(ranked, room)
        result = "\n".join(s.text for s in sorted(chosen, key=lambda s: s.place))
        if chosen and counter.text(result) <= max_tokens:
            return result
        room = int(room * 0.8) if chosen else 0
    return cut_to(text, max_tokens, counter)


def _sentences(text: str) -> list[str]:
    found: list[str] = []
    for line in text.splitlines():
        for part in re.split(r"(?<=[.!?])\s+", line.strip()):
            if part:
                found.append(part if len(part) <= _LONGEST else f"{part[:300]}{ELLIPSIS}{part[-80:]}")
    if len(found) > _MOST_SENTENCES:
        half = _MOST_SENTENCES // 2
        return [*found[:half], *found[-half:]]
    return found


def _scored(sentences: Sequence[str], guidance: str) -> list[_Sentence]:
    bags = [frozenset(word.lower() for word in _WORD.findall(sentence)) for sentence in sentences]
    frequency = Counter(word for bag in bags for word in bag)
    guiding = frozenset(word.lower() for word in _WORD.findall(guidance) if len(word) > 2)  # noqa: PLR2004
    total = len(bags) + 1
    scored: list[_Sentence] = []
    for place, (sentence, bag) in enumerate(zip(sentences, bags, strict=True)):
        rarity = math.fsum(math.log(total / frequency[word]) + 0.1 for word in bag)
        score = rarity / (6 + len(bag))
        score += _NAME_BONUS * min(3, _names(sentence)) / 3
        score += _GUIDANCE_BONUS * len(bag & guiding) / (1 + len(guiding))
        score *= _USER_BONUS if sentence.startswith("User:") else 1.0
        score *= _QUESTION_MALUS if sentence.endswith("?") else 1.0
        scored.append(_Sentence(place, sentence, bag, score))
    return scored


def _names(sentence: str) -> int:
    return len(_NAME.findall(sentence, 1))


def _choose(ranked: Sequence[_Sentence], room: int) -> list[_Sentence]:
    chosen: list[_Sentence] = []
    seen: set[frozenset[str]] = set()
    for sentence in ranked:
        if len(sentence.text) + 1 <= room and sentence.words not in seen:
            seen.add(sentence.words)
            chosen.append(sentence)
            room -= len(sentence.text) + 1
    return chosen

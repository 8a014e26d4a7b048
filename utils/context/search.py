"""BM25 search over the passages of a conversation, for the tool `recall`. Pure.

Constants are those of Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from utils.messages import words

_K1 = 1.2
_B = 0.75
_SUFFIXES = ("ings", "ing", "edly", "ed", "es", "s", "ly")
_SHORTEST_STEM = 4

LONGEST_PASSAGE = 700
"""Most characters of a passage."""


class Hit(NamedTuple):
    """A found passage: its index among the passages, and its score."""

    place: int
    score: float


def words_of(text: str) -> list[str]:
    """Lower-case words without common English endings, so that "restarted" matches "restart"; see `utils.messages.words`."""
    return [_stem(word) for word in words.words_of(text)]


def bm25(query: str, passages: Sequence[str], most: int) -> list[Hit]:
    """The best passages for a query, best first. Passages that share no word with it are left out."""
    bags = [Counter(words_of(passage)) for passage in passages]
    lengths = [bag.total() for bag in bags]
    average = sum(lengths) / max(1, len(lengths)) or 1.0
    terms = set(words_of(query))
    rarity = {word: _rarity(sum(word in bag for bag in bags), len(bags)) for word in terms}
    hits = []
    for place, (bag, length) in enumerate(zip(bags, lengths, strict=True)):
        norm = _K1 * (1 - _B + _B * length / average)
        score = math.fsum(rarity[w] * bag[w] * (_K1 + 1) / (bag[w] + norm) for w in terms if w in bag)
        if score > 0:
            hits.append(Hit(place, score))
    return sorted(hits, key=lambda hit: (-hit.score, hit.place))[:most]


def passages_of(text: str) -> list[str]:
    """A text in passages of at most `LONGEST_PASSAGE` characters, cut at line or sentence ends if possible."""
    longest = LONGEST_PASSAGE
    passages: list[str] = []
    for paragraph in text.split("\n\n"):
        rest = paragraph.strip()
        while len(rest) > longest:
            ends = (". ", "。", "！", "？")
            cut = max(rest.rfind("\n", 0, longest), *(rest.rfind(end, 0, longest) + 1 for end in ends))
            cut = cut if cut > longest // 3 else longest
            passages.append(rest[:cut].strip())
            rest = rest[cut:].strip()
        if rest:
            passages.append(rest)
    return passages


def _rarity(found_in: int, total: int) -> float:
    return math.log(1 + (total - found_in + 0.5) / (found_in + 0.5))


def _stem(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            return word[: -len(suffix)]
    return word

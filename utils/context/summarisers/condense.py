"""Condenses a conversation's text to its most informative clauses, without function words. Pure.

Clauses are selected greedily by gain per token: the weight of their words and word pairs, with a low
weight for those that selected clauses contain already (lazy greedy maximisation of a submodular
function, Lin and Bilmes 2011). If tokens remain, the best clauses are restored to their full wording.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from utils.context.protocols import TokenCounter
from utils.context.summarisers.clauses import Clause, clauses_of
from utils.context.summarisers.cut import cut_to
from utils.context.summarisers.words import bare, stem, weight

_MOST = 20_000
_LONGEST = 1_000_000
"""Most clauses and characters that are processed; of a longer text, the first and last halves. Takes a second at most."""

_PAIR = 1.2
_REPEATED = 0.25
_ASKED = 0.6
_VOICES = {"User": 1.0, "Assistant": 0.8, "": 1.0}
_RESULT = 0.7
_CHARS = 0.2
_JOINT = "; "

Term = str | tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Item:
    clause: Clause
    terms: dict[Term, float]
    cost: float


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """The words of a text: their stems, and their weights inside and at the beginning of a clause."""

    roots: dict[str, str]
    within: dict[str, float]
    opening: dict[str, float]


def condense(text: str, max_tokens: int, counter: TokenCounter) -> str:
    """Condense a conversation's text to at most `max_tokens` tokens; the whole text if it fits.

    If not even one clause fits, the result is the text's head and tail.
    """
    if len(text) <= max_tokens * 40 and counter.text(text) <= max_tokens:
        return text.strip()
    items = _items(clauses_of(_ends(text), _MOST))
    forms, room = _choose(items, max_tokens - 2, counter)
    for place in list(forms):
        if room <= 0:
            break
        full = items[place].clause.text
        more = counter.text(full) - counter.text(forms[place])
        if 0 < more <= room:
            forms[place], room = full, room - more
    while forms:
        result = _written({place: forms[place] for place in sorted(forms)}, items)
        if counter.text(result) <= max_tokens:
            return result
        for place in list(forms)[-max(1, len(forms) // 50) :]:
            del forms[place]
    return cut_to(text, max_tokens, counter)


def _ends(text: str) -> str:
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]}\n{text[-half:]}"


def _items(clauses: Sequence[Clause]) -> list[_Item]:
    roots = {word: stem(bare(word)) for clause in clauses for word in clause.words}
    spread = Counter(root for clause in clauses for root in {roots[word] for word in clause.words})
    scale = math.log(len(clauses) + 1)
    rarity = {root: 1 - math.log(times) / scale if scale else 1.0 for root, times in spread.items()}
    vocabulary = _Vocabulary(
        roots=roots,
        within={word: weight(word, opens=False, rarity=rarity[root]) for word, root in roots.items()},
        opening={word: weight(word, opens=True, rarity=rarity[root]) for word, root in roots.items()},
    )
    return [
        _Item(clause, _terms(clause, vocabulary), 1 + sum(1 + _CHARS * len(w) for w in clause.words))
        for clause in clauses
    ]


def _terms(clause: Clause, vocabulary: _Vocabulary) -> dict[Term, float]:
    factor = _VOICES.get(clause.speaker, _RESULT) * (_ASKED if clause.asks else 1.0)
    stems = [vocabulary.roots[word] for word in clause.words]
    values = [factor * vocabulary.within[word] for word in clause.words]
    values[0] = factor * vocabulary.opening[clause.words[0]]
    terms: dict[Term, float] = {}
    for root, value in zip(stems, values, strict=True):
        if value >= terms.get(root, 0.0):
            terms[root] = value
    for pair in pairwise(stems):
        terms[pair] = _PAIR * min(terms[pair[0]], terms[pair[1]])
    return terms


def _choose(items: Sequence[_Item], room: int, counter: TokenCounter) -> tuple[dict[int, str], int]:
    """The short forms of the selected items by position, best first, and the tokens that remain."""
    seen: Counter[Term] = Counter()
    heap = [(-_gain(item, seen), place) for place, item in enumerate(items)]
    heapq.heapify(heap)
    chosen: dict[int, str] = {}
    weighed = dict[int, int]()  # number of selected items when an item's gain was last computed
    while heap and room > 0:
        gain, place = -heap[0][0], heap[0][1]
        if len(items[place].clause.words) >= room:
            heapq.heappop(heap)
            continue  # each word is at least one token
        if weighed.get(place, 0) != len(chosen):
            weighed[place] = len(chosen)
            heapq.heapreplace(heap, (-_gain(items[place], seen), place))
            continue
        heapq.heappop(heap)
        cost = counter.text(_JOINT + items[place].clause.short)
        if cost <= room and gain > 0:
            chosen[place], room = items[place].clause.short, room - cost
            seen.update(items[place].terms.keys())
    return chosen, room


def _gain(item: _Item, seen: Counter[Term]) -> float:
    """Gain of an item per token. This is the inner loop: one method call less saves a tenth of the time."""
    times, total = seen.get, 0.0
    for term, value in item.terms.items():
        repeated = times(term)
        total += value * _REPEATED**repeated if repeated else value
    return total / item.cost


def _written(forms: dict[int, str], items: Sequence[_Item]) -> str:
    return "\n".join(_lines(forms, items))


def _lines(forms: dict[int, str], items: Sequence[_Item]) -> Iterator[str]:
    """The items as lines, one for each change of speaker."""
    speaker, line = "", list[str]()
    for place, form in forms.items():
        says = items[place].clause.speaker
        if line and says != speaker:
            yield _line(speaker, line)
            line = []
        speaker = says
        line.append(form)
    if line:
        yield _line(speaker, line)


def _line(speaker: str, forms: Sequence[str]) -> str:
    text = _JOINT.join(forms)
    return f"{speaker}: {text}" if speaker and not text.startswith("Assistant calls ") else text

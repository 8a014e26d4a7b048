"""A pattern as an automaton: a place for each character that it reads, and edges that say which place may follow which.

What an automaton cannot say is left out in the direction of more ways, so that what is found linear is linear:
a look-around of several characters always holds, and an atomic group may be left in every way.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from re import _compiler as compiler  # type: ignore[attr-defined]  # no public name, the parser has none either
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

LETTERS = (
    string.printable
    + "\0\x7f\x85\xa0\u0131\xe9\xc9\xdf\u0663\u2018\u2019\u201c\u201d\u2013\u2014\u2022\u2026\u2028\u203a\u3000"
    "\u3001\u3002\u3042\u4e00\u5bc6\uac00\uff01\ud800\ufeff\u202a"
)
BYTES = [bytes([value]) for value in range(256)]
COPIES = 4
"""Of a repeat with an upper bound so many are looked at: enough to see four that vie for the same characters."""
FEW = 400
"""A repeat with a larger upper bound counts as one without: the square of so many steps is soon done, of more it is not."""

_REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)
_CHARACTERS = (ops.LITERAL, ops.NOT_LITERAL, ops.IN, ops.ANY)
_FLAGS_OF_A_SET = re.IGNORECASE | re.DOTALL | re.ASCII | re.UNICODE | re.LOCALE

Items = Iterable[tuple[Any, Any]]


class Bounds(NamedTuple):
    """Which characters may stand before an edge and which behind it, as bits; the highest bit is for none at all."""

    before: int
    behind: int


class Edge(NamedTuple):
    """To a place, where the characters around it allow."""

    bounds: Bounds
    place: int


@dataclass(slots=True)
class Automaton:
    """Places and the edges between them. Place 0 stands for all that a search passes over before it finds anything.

    Attributes:
        reads: The characters that each place reads, as bits.
        edges: Where each place leads to.
        ends: The places behind which the whole pattern has matched, whatever follows.
        twice: Pairs of places of which the first leads to the second in two ways at once.
    """

    reads: list[int] = field(default_factory=list)
    edges: list[list[Edge]] = field(default_factory=list)
    ends: set[int] = field(default_factory=set)
    twice: set[tuple[int, int]] = field(default_factory=set)


class Reader:
    """Makes an automaton of a pattern."""

    def __init__(self, pattern: re.Pattern[Any], *, few: int = FEW) -> None:
        self.few = few
        tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
        self.samples: Sequence[Any] = BYTES if isinstance(pattern.pattern, bytes) else LETTERS
        self.none = 1 << len(self.samples)
        self.free = Bounds(2 * self.none - 1, 2 * self.none - 1)
        self.words = self._matching(r"\w", pattern.flags)
        self.reads = [self.none - 1]  # the search passes over everything
        self.after = [0]
        """By place: the node behind it."""
        self.steps: list[list[tuple[Bounds, int]]] = [[]]
        self.reading: list[list[int]] = [[]]
        """By node: the places that are read from there."""
        self.loops: dict[int, set[int]] = {}
        """By node where a repeat begins: the nodes where it has read once."""
        self.done = self._node()
        self.looked = self._node()
        self._join(self._all(tree, 0, tree.state.flags), self.done)

    def automaton(self) -> Automaton:
        """The places that lead to each other."""
        made = Automaton(self.reads)
        closures: dict[int, tuple[list[Edge], bool]] = {}
        for place, node in enumerate(self.after):
            if node not in closures:
                closures[node] = self._closure(node)
            ways, ends = closures[node]
            made.edges.append(self._edges(place, ways, made.twice))
            if ends:
                made.ends.add(place)
        return made

    def _edges(self, place: int, ways: Sequence[Edge], twice: set[tuple[int, int]]) -> list[Edge]:
        """The ways that a place can take; two that the same characters allow are noted."""
        before = self.reads[place] | (0 if place else self.none)
        found: dict[int, list[Bounds]] = {}
        for (may_precede, may_follow), target in ways:
            bounds = Bounds(before & may_precede, self.reads[target] & may_follow)
            if not (bounds.before and bounds.behind):
                continue
            known = found.setdefault(target, [])
            if any(bounds.before & other.before and bounds.behind & other.behind for other in known):
                twice.add((place, target))
            if bounds not in known:
                known.append(bounds)
        return [Edge(bounds, target) for target, all_of in found.items() for bounds in all_of]

    def _closure(self, node: int) -> tuple[list[Edge], bool]:
        """The ways to places that are read next, and whether all has matched."""
        found: list[Edge] = []
        ends = False
        for at, bounds in self._ways(node, self.free, frozenset()):
            ends |= at == self.done and bounds == self.free
            found += (Edge(bounds, place) for place in self.reading[at])
        return found, ends

    def _ways(self, node: int, bounds: Bounds, passed: frozenset[int]) -> Iterator[tuple[int, Bounds]]:
        """The nodes that are reached without reading. A loop that has read nothing is not begun again."""
        yield node, bounds
        begun = passed | {node} if node in self.loops else passed
        for condition, target in self.steps[node]:
            both = Bounds(bounds.before & condition.before, bounds.behind & condition.behind)
            again = target in begun and node in self.loops[target]
            if both.before and both.behind and not again:
                yield from self._ways(target, both, begun)

    def _node(self) -> int:
        self.steps.append([])
        self.reading.append([])
        return len(self.steps) - 1

    def _join(self, start: int, end: int, bounds: Bounds | None = None) -> None:
        self.steps[start].append((bounds or self.free, end))

    def _all(self, items: Items, start: int, flags: int) -> int:
        for operator, value in items:
            start = self._one(operator, value, start, flags)
        return start

    def _one(self, op: Any, value: Any, start: int, flags: int) -> int:
        """The node behind one item of a pattern that begins at a node."""
        if op in _REPEATS:
            return self._repeat(op, value, start, flags)
        if op is ops.SUBPATTERN:
            return self._all(value[3], start, (flags | value[1]) & ~value[2])
        if op is ops.ATOMIC_GROUP:
            listed = list(value)
            if len(listed) == 1 and listed[0][0] is ops.MAX_REPEAT:
                return self._repeat(ops.POSSESSIVE_REPEAT, listed[0][1], start, flags)
            return self._all(listed, start, flags)
        end = self._node()
        if op in _CHARACTERS:
            self._character(self._set((op, value), flags), start, end)
        elif op is ops.BRANCH:
            for branch in value[1]:
                self._join(self._all(branch, start, flags), end)
        elif op is ops.AT:
            for bounds in self._at(value, flags):
                self._join(start, end, bounds)
        elif op in (ops.ASSERT, ops.ASSERT_NOT):
            self._look(op, value, start, end, flags)
        elif op is ops.GROUPREF:
            self._join(start, end)
            self._character(self.none - 1, start, end)
        elif op is ops.GROUPREF_EXISTS:
            for branch in value[1:]:
                self._join(self._all(branch or [], start, flags), end)
        else:
            raise ValueError(f"no part of a pattern that is known: {op}")
        return end

    def _character(self, mask: int, start: int, end: int) -> None:
        self.reading[start].append(len(self.reads))
        self.reads.append(mask)
        self.after.append(end)

    def _repeat(self, op: Any, value: Any, start: int, flags: int) -> int:
        least, most, items = value
        endless = most is ops.MAXREPEAT or most > self.few
        only = self._only_set(items, flags)
        beyond = Bounds(self.free.before, self.free.behind & ~only) if only else self.free
        leaves = beyond if op is ops.POSSESSIVE_REPEAT and most is ops.MAXREPEAT else self.free
        for _ in range(min(least, COPIES) - (1 if endless and least else 0)):
            start = self._all(items, start, flags)
        end = self._node()
        if endless:
            loop = self._node()
            self._join(start, loop)
            behind = self._node()
            self.loops[loop] = {behind}
            self._join(self._all(items, loop, flags), behind)
            self._join(behind, loop)
            self._join(behind if least else loop, end, leaves)
            return end
        self._join(start, end)
        for _ in range(min(most - least, COPIES)):
            start = self._all(items, start, flags)
            self._join(start, end)
        return end

    def _look(self, op: Any, value: Any, start: int, end: int, flags: int) -> None:
        direction, items = value
        only = self._only_set(items, flags)
        if only:
            allowed = only if op is ops.ASSERT else self.free.before & ~only
            bounds = Bounds(allowed, self.free.behind) if direction < 0 else Bounds(self.free.before, allowed)
            self._join(start, end, bounds)
            return
        self._join(start, end)
        if direction > 0:  # what lies ahead is read as well, and then read again
            self._join(self._all(items, start, flags), self.looked)

    def _at(self, where: Any, flags: int) -> list[Bounds]:
        everything, none = self.free.before, self.none
        lines = none | self._matching(r"\n", 0)
        if where is ops.AT_BEGINNING:
            return [Bounds(lines if flags & re.MULTILINE else none, everything)]
        if where is ops.AT_BEGINNING_STRING:
            return [Bounds(none, everything)]
        if where is ops.AT_END:
            return [Bounds(everything, lines)]
        if where is ops.AT_END_STRING:
            return [Bounds(everything, none)]
        inside, outside = self.words, everything & ~self.words
        if where is ops.AT_BOUNDARY:
            return [Bounds(inside, outside), Bounds(outside, inside)]
        return [Bounds(inside, inside), Bounds(outside, outside)]

    def _only_set(self, items: Items, flags: int) -> int:
        """The characters of a sequence that is one character long, else 0."""
        listed = list(items)
        if len(listed) != 1:
            return 0
        op, value = listed[0]
        if op in _CHARACTERS:
            return self._set((op, value), flags)
        if op is ops.SUBPATTERN:
            return self._only_set(value[3], (flags | value[1]) & ~value[2])
        if op is ops.BRANCH:
            sets = [self._only_set(branch, flags) for branch in value[1]]
            return _united(sets) if all(sets) else 0
        return 0

    def _set(self, item: tuple[Any, Any], flags: int) -> int:
        tree = parser.SubPattern(parser.State(), [item])
        return self._matching(tree, flags & _FLAGS_OF_A_SET)

    def _matching(self, source: Any, flags: int) -> int:
        if isinstance(source, str) and self.samples is BYTES:
            source = source.encode()
        known = (repr(source), int(flags) & _FLAGS_OF_A_SET, self.samples is BYTES)
        if known not in _SETS:
            one = compiler.compile(source, int(flags) & _FLAGS_OF_A_SET)
            _SETS[known] = _united(1 << bit for bit, each in enumerate(self.samples) if one.fullmatch(each))
        return _SETS[known]


_SETS: dict[tuple[str, int, bool], int] = {}


def _united(masks: Iterable[int]) -> int:
    made = 0
    for mask in masks:
        made |= mask
    return made

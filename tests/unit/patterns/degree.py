"""How the steps of a pattern grow with the text, at worst: with the text itself, with its square, with more.

A pattern takes more steps than a text is long where it can read the same characters in several ways, and all of them are
tried before it gives up. Two loops of a pattern vie where a text leads from a place of the first to itself, from there to
a place of the second, and from that to itself: the one can hand over to the other anywhere in the repeated text. Each pair
that vies on the way through a pattern adds one to the power of the length that the steps grow with. A loop that one text
leads back to itself in two ways takes a power of two.

The method is that of Weber and Seidl, "On the degree of ambiguity of finite automata" (1991).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from tests.unit.patterns.automaton import FEW, Automaton, Bounds, Edge, Reader

EXPONENTIAL = 99
Node = tuple[int, ...]
Group = frozenset[int]


class Degrees:
    """How ambiguous one pattern is.

    Args:
        pattern: Any pattern.
        searched: Whether it may begin anywhere in a text, and not only at its beginning.
        counted: Whether a loop counts, by the characters that it reads, as bits of `automaton.LETTERS`. All count when it
            is left out; loops whose runs are bounded elsewhere need not.
        few: A repeat with a larger upper bound counts as one without.
    """

    def __init__(
        self,
        pattern: re.Pattern[Any],
        *,
        searched: bool = True,
        counted: Callable[[int], bool] | None = None,
        few: int = FEW,
    ) -> None:
        reader = Reader(pattern, few=few)
        self.samples = reader.samples
        self.automaton: Automaton = reader.automaton()
        self.counted = counted or (lambda _: True)
        self._known: dict[tuple[int, Group | None, int], list[tuple[int, int, int]]] = {}
        if searched:
            self.automaton.edges[0] = [*self.automaton.edges[0], Edge(Bounds(*reader.free), 0)]

    @cached_property
    def groups(self) -> list[Group]:
        """The loops: places that lead back to each other, in the order in which a text can pass them."""
        following = [[edge.place for edge in edges] for edges in self.automaton.edges]
        return [
            group
            for group in reversed(components(following))
            if len(group) > 1 or any(place in following[place] for place in group)
            if self.counted(_united(self.automaton.reads[place] for place in group))
        ]

    @cached_property
    def chain(self) -> list[tuple[Group, Group]]:
        """The pairs of loops that vie, along the way through the pattern that has most of them."""
        best: dict[Group, list[tuple[Group, Group]]] = {}
        for group in self.groups:
            best[group] = []
            for other in self.groups:
                if other == group:
                    break
                if not self._leads(other, group):
                    continue
                most = len(best[group])
                if len(best[other]) >= most and self._vie(other, group):
                    best[group] = [*best[other], (other, group)]
                elif len(best[other]) > most:
                    best[group] = best[other]
        return max(best.values(), key=len, default=[])

    @cached_property
    def doubled(self) -> Group | None:
        """A loop that one text leads back to itself in two ways."""
        return next((group for group in self.groups if group != {0} and self._doubled(group)), None)

    @property
    def degree(self) -> int:
        """The power of a text's length that the steps grow with; `EXPONENTIAL` where no power is enough."""
        return EXPONENTIAL if self.doubled else 1 + len(self.chain)

    def told(self) -> str:
        """The loops that vie, by a few of the characters that they read."""
        if self.doubled:
            return f"twice {self._shown(self.doubled)}"
        return ", ".join(f"{self._shown(first)} ~ {self._shown(second)}" for first, second in self.chain)

    def _shown(self, group: Group) -> str:
        if group == {0}:
            return "search"
        return "(" + " ".join(self._letters(self.automaton.reads[place]) for place in sorted(group)[:8]) + ")"

    def _letters(self, mask: int) -> str:
        return (
            "".join(str(each) for bit, each in enumerate(self.samples) if mask >> bit & 1)[:6].strip() or "_"
        )

    @cached_property
    def _behind(self) -> list[int]:
        """By place: the places that can follow at some time, as bits."""
        behind = [0] * len(self.automaton.reads)
        for group in components([[edge.place for edge in edges] for edges in self.automaton.edges]):
            reached = _united(
                1 << edge.place | behind[edge.place]
                for place in group
                for edge in self.automaton.edges[place]
            )
            for place in group:
                behind[place] = reached
        return behind

    def _leads(self, first: Group, second: Group) -> bool:
        return bool(self._behind[next(iter(first))] >> next(iter(second)) & 1)

    def _vie(self, first: Group, second: Group) -> bool:
        return any(
            self._reaches([(p, p, q)], (p, q, q), (first, None, second))
            for p, q in self._together(first, second)
            if q not in self.automaton.ends
        )

    def _together(self, first: Group, second: Group) -> list[Node]:
        """The pairs of places that one text leads back to."""
        if first == {0}:
            return [(0, place) for place in second]
        reads, edges = self.automaton.reads, self.automaton.edges
        pairs = [(p, q) for p in first for q in second if reads[p] & reads[q]]
        numbers = {pair: number for number, pair in enumerate(pairs)}
        following = [
            [
                numbers[one.place, other.place]
                for one in edges[p]
                for other in edges[q]
                if (one.place, other.place) in numbers
                and one.bounds.before & other.bounds.before & reads[p] & reads[q]
                and one.bounds.behind & other.bounds.behind
            ]
            for p, q in pairs
        ]
        return [
            pairs[number]
            for group in components(following)
            for number in group
            if len(group) > 1 or number in following[number]
        ]

    def _doubled(self, group: Group) -> bool:
        if any(first in group and second in group for first, second in self.automaton.twice):
            return True
        begin = [(p, p) for p in group]
        return self._reaches(begin, None, (group, group))

    def _reaches(self, starts: Sequence[Node], goal: Node | None, within: Sequence[Group | None]) -> bool:
        """Whether one text leads from each place of a start to that of a goal; of none: to one place, by different ones."""
        seen: dict[tuple[Node, bool], int] = {}
        todo = [
            ((start, goal is not None), _common(self.automaton.reads[place] for place in start))
            for start in starts
        ]
        while todo:
            (node, parted), mask = todo.pop()
            for target, characters in self._next(node, mask, within, goal or ()):
                same = len(set(target)) == 1
                if target == goal or (
                    goal is None and parted and same and target[0] not in self.automaton.ends
                ):
                    return True
                state = (target, goal is not None or not same)
                if characters & ~seen.get(state, 0):
                    seen[state] = seen.get(state, 0) | characters
                    todo.append((state, seen[state]))
        return False

    def _next(
        self, node: Node, mask: int, within: Sequence[Group | None], goal: Node
    ) -> Iterator[tuple[Node, int]]:
        """The nodes that one character more leads to, and the characters that lead there."""
        order = sorted(range(len(node)), key=lambda at: within[at] is None)
        made: list[tuple[Node, int, int]] = [((), mask, -1)]
        for at in order:
            edges = self._kept(node[at], within[at], goal[at] if goal else 0)
            made = [
                ((*found, place), earlier & before, later & behind)
                for found, earlier, later in made
                for before, behind, place in edges
                if later & behind and earlier & before
            ]
        for found, _, behind in made:
            yield tuple(found[order.index(at)] for at in range(len(node))), behind

    def _kept(self, place: int, inside: Group | None, aim: int) -> list[tuple[int, int, int]]:
        """The edges of a place that stay in a group, or lead on to an aim where there is no group."""
        key = (place, inside, aim if inside is None else 0)
        if key not in self._known:
            self._known[key] = [
                (edge.bounds.before, edge.bounds.behind, edge.place)
                for edge in self.automaton.edges[place]
                if (
                    edge.place in inside
                    if inside is not None
                    else edge.place == aim or self._behind[edge.place] >> aim & 1
                )
            ]
        return self._known[key]


def components(following: Sequence[Sequence[int]]) -> list[Group]:
    """The groups of numbers that lead to each other, those that are led to first."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    open_: list[int] = []
    inside: set[int] = set()
    made: list[Group] = []
    for root in range(len(following)):
        if root in index:
            continue
        work = [(root, iter(following[root]))]
        index[root] = low[root] = len(index)
        open_.append(root)
        inside.add(root)
        while work:
            node, rest = work[-1]
            target = next(rest, None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    at = open_.index(node)
                    made.append(frozenset(open_[at:]))
                    inside -= made[-1]
                    del open_[at:]
            elif target not in index:
                index[target] = low[target] = len(index)
                open_.append(target)
                inside.add(target)
                work.append((target, iter(following[target])))
            elif target in inside:
                low[node] = min(low[node], index[target])
    return made


def _common(masks: Iterable[int]) -> int:
    made = -1
    for mask in masks:
        made &= mask
    return made


def _united(masks: Iterable[int]) -> int:
    made = 0
    for mask in masks:
        made |= mask
    return made

"""`Load`: how busy an agent is, which turns begin next, and whether it takes one more. Pure; both engines ask it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from utils.a2a_common.engine.shares import CALLER_TIMES, Caller, FairShares, caller_of, leaves_room


@dataclass(frozen=True, slots=True)
class Standing:
    """The turns of one conversation that run or wait.

    Attributes:
        conversation: Its key.
        running: Turns that run: one at most, but for a moment while another replica takes over.
        waiting: Turns that do not run yet.
        first: Number of the turn that is its next, in the order in which they came; 0 where none waits.
        priority: Its priority; the highest goes first.
    """

    conversation: str
    running: int
    waiting: int
    first: int = 0
    priority: int = 0

    @property
    def caller(self) -> Caller:
        """Whose it is."""
        return caller_of(self.conversation)


@dataclass(frozen=True, slots=True)
class Load:
    """The turns of an agent, of one process or over all its replicas as one statement sees them.

    Attributes:
        places: Turns that all replicas together run at the same time.
        standings: The conversations with a turn that runs or waits.
        conversation: The conversation in question.
        fair: Whether places are shared among the callers.
        held: Conversations whose turns may not begin now, whether they have any or not.
    """

    places: int
    standings: Sequence[Standing]
    conversation: str = ""
    fair: bool = False
    held: frozenset[str] = frozenset()

    @property
    def waiting(self) -> int:
        """Turns that do not run yet."""
        return sum(each.waiting for each in self.standings)

    @property
    def busy(self) -> bool:
        """Whether the conversation in question is one of them, or is held."""
        return self.conversation in self.held or any(
            each.conversation == self.conversation for each in self.standings
        )

    def next(self) -> list[int]:
        """The numbers of the turns of which any may begin now, the first one first."""
        shares = self._taken()
        fit = [each for each in self._heads() if shares.open_to(each.caller)]
        return [each.first for each in sorted(fit, key=lambda each: _order(each, shares))]

    def begin(self) -> list[int]:
        """The numbers of the turns that begin now, if each that begins takes its place before the next one is looked for."""
        return [each.first for each in self._begin(self._taken())]

    def takes(self, most_waiting: int) -> bool:
        """Whether a turn of the conversation would begin now, or find a place in the line."""
        shares = self._taken()
        beginning = sum(1 for _ in self._begin(shares))
        caller = caller_of(self.conversation)
        if not self.busy and shares.open_to(caller):
            return True
        free = most_waiting - (self.waiting - beginning)
        if not self.fair:
            return free > 0
        of_caller = sum(each.waiting for each in self.standings if each.caller == caller)
        return leaves_room(of_caller, free, CALLER_TIMES)

    def _taken(self) -> FairShares:
        shares = FairShares(self.places, fair=self.fair)
        for each in self.standings:
            shares.take(each.caller, each.running)
        return shares

    def _heads(self) -> list[Standing]:
        """The conversations with a turn that waits for no other one of its own."""
        return [each for each in self.standings if self._may_begin(each)]

    def _may_begin(self, each: Standing) -> bool:
        return bool(each.waiting) and not each.running and each.conversation not in self.held

    def _begin(self, shares: FairShares) -> Iterator[Standing]:
        """The turns that begin as soon as somebody fetches them; they take their places."""
        heads = self._heads()
        while fit := [each for each in heads if shares.open_to(each.caller)]:
            begun = min(fit, key=lambda each: _order(each, shares))
            heads.remove(begun)
            shares.take(begun.caller)
            yield begun


def _order(standing: Standing, shares: FairShares) -> tuple[int, tuple[int, int], int]:
    return -standing.priority, shares.rank(standing.caller), standing.first

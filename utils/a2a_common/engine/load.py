"""`Load`: how busy an agent is, which turns begin next, and whether it accepts one more. Pure; both engines use it.

One turn of a conversation runs at a time. Otherwise the oldest turn begins first, or, if places are shared, the turn of the
caller that holds the fewest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from utils.a2a_common.engine.shares import CALLER_TIMES, Caller, FairShares, caller_of, leaves_room


@dataclass(frozen=True, slots=True)
class ConversationLoad:
    """The turns of one conversation that run or wait.

    Attributes:
        conversation: Its key.
        running: Number of running turns: at most one, except for a moment while another replica takes over.
        waiting: Number of turns that do not run yet.
        first: Number of the turn that begins next, in the order of arrival; 0 if none waits.
        priority: The priority of that turn; the highest begins first.
    """

    conversation: str
    running: int
    waiting: int
    first: int = 0
    priority: int = 0

    @property
    def caller(self) -> Caller:
        """The caller that owns the conversation."""
        return caller_of(self.conversation)


@dataclass(frozen=True, slots=True)
class Load:
    """The unfinished turns of an agent: of one process, or of all replicas as one SQL statement sees them.

    Attributes:
        places: Maximum number of turns that all replicas together run at the same time.
        loads: One for each conversation with a turn that runs or waits.
        conversation: Key of the conversation of a turn that may be added.
        fair: Whether places are shared among the callers.
        held: Conversations whose turns may not begin now.
    """

    places: int
    loads: Sequence[ConversationLoad]
    conversation: str = ""
    fair: bool = False
    held: frozenset[str] = frozenset()

    @property
    def waiting(self) -> int:
        """Number of turns that do not run yet."""
        return sum(each.waiting for each in self.loads)

    @property
    def busy(self) -> bool:
        """Whether `conversation` has a turn that runs or waits, or is held."""
        return self.conversation in self.held or any(
            each.conversation == self.conversation for each in self.loads
        )

    def candidates(self) -> list[int]:
        """The numbers of the turns of which any one may begin now, in order of preference."""
        shares = self._taken()
        fit = [each for each in self._heads() if shares.open_to(each.caller)]
        return [each.first for each in sorted(fit, key=lambda each: _order(each, shares))]

    def beginning(self) -> list[int]:
        """The numbers of the turns that begin now, if each takes its place before the next is chosen."""
        return [each.first for each in self._begin(self._taken())]

    def has_room(self, max_waiting: int) -> bool:
        """Whether a turn of `conversation` would begin now, or may wait with at most `max_waiting` others."""
        shares = self._taken()
        beginning = sum(1 for _ in self._begin(shares))
        caller = caller_of(self.conversation)
        if not self.busy and shares.open_to(caller):
            return True
        free = max_waiting - (self.waiting - beginning)
        if not self.fair:
            return free > 0
        of_caller = sum(each.waiting for each in self.loads if each.caller == caller)
        return leaves_room(of_caller, free, CALLER_TIMES)

    def _taken(self) -> FairShares:
        shares = FairShares(self.places, fair=self.fair)
        for each in self.loads:
            shares.take(each.caller, each.running)
        return shares

    def _heads(self) -> list[ConversationLoad]:
        """The conversations whose next turn waits for no other turn of the same conversation."""
        return [each for each in self.loads if self._may_begin(each)]

    def _may_begin(self, each: ConversationLoad) -> bool:
        return bool(each.waiting) and not each.running and each.conversation not in self.held

    def _begin(self, shares: FairShares) -> Iterator[ConversationLoad]:
        """The turns that begin now; each takes its place in `shares`."""
        heads = self._heads()
        while fit := [each for each in heads if shares.open_to(each.caller)]:
            begun = min(fit, key=lambda each: _order(each, shares))
            heads.remove(begun)
            shares.take(begun.caller)
            yield begun


def _order(standing: ConversationLoad, shares: FairShares) -> tuple[int, tuple[int, int], int]:
    return -standing.priority, shares.rank(standing.caller), standing.first

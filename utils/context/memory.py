"""What the pipeline remembers of a conversation from one request to the next. Bounded.

Nothing depends on it but time: what is not remembered, or no longer true, is found out anew.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from utils.context.compaction import cut_of
from utils.context.draft import Draft
from utils.context.known import Known
from utils.context.registry import Pin
from utils.messages.settled import Settled

CONVERSATIONS = 64
"""Conversations that are remembered at once."""

CHARACTERS = 20_000_000
"""Characters that the remembered ones have together, but for the one that is in use."""


@dataclass(slots=True)
class Remembered:
    """What one request leaves for the next.

    Attributes:
        settled: The repaired beginning of the conversation.
        known: Facts of the beginning of the view.
        extra: Constraints that a model found...
        pinned: ...and those in force after the first `read` messages of the settled beginning.
        read: See `pinned`.
    """

    settled: Settled = field(default_factory=Settled)
    known: Known | None = None
    extra: tuple[Pin, ...] = ()
    pinned: dict[str, Pin] = field(default_factory=dict)
    read: int = 0


class Memory:
    """The memory of one conversation.

    A request takes what is there and puts back what it leaves, so that two requests at once cannot
    change each other's: the second finds nothing.
    """

    def __init__(self) -> None:
        self._remembered: Remembered | None = None

    @property
    def count(self) -> int:
        """How many messages of the conversation are remembered."""
        return self._remembered.settled.count if self._remembered else 0

    @property
    def characters(self) -> int:
        """How long they are together."""
        return self._remembered.settled.characters if self._remembered else 0

    def take(self) -> Remembered | None:
        """What the last request left; it is gone from here."""
        taken, self._remembered = self._remembered, None
        return taken

    def put(self, remembered: Remembered) -> None:
        """Keep this for the next request."""
        self._remembered = remembered


class Memories:
    """The memories of the conversations that were used last.

    Args:
        conversations: Most of them.
        characters: Most characters in all of them together, but for the last.
    """

    def __init__(self, conversations: int = CONVERSATIONS, characters: int = CHARACTERS) -> None:
        self._most = conversations
        self._characters = characters
        self._by_scope: OrderedDict[str, Memory] = OrderedDict()

    def __len__(self) -> int:
        return len(self._by_scope)

    def of(self, scope: str) -> Memory:
        """The memory of a conversation; an empty one for a new one."""
        memory = self._by_scope.setdefault(scope, Memory())
        self._by_scope.move_to_end(scope)
        while len(self) > 1 and (len(self) > self._most or self._size() > self._characters):
            self._by_scope.popitem(last=False)
        return memory

    def forget(self, scope: str) -> None:
        """Drop the memory of a conversation."""
        self._by_scope.pop(scope, None)

    def _size(self) -> int:
        return sum(memory.characters for memory in self._by_scope.values())


def known_of(draft: Draft) -> Known | None:
    """What is known of a view after its request was checked; `None` where no part of it is sure to stay."""
    unsettled = len(draft.talk) - draft.settled
    known = draft.known
    if known is None:
        if draft.compaction.through and cut_of(draft.talk, draft.compaction) not in range(1, draft.settled):
            return None
        known = Known(draft.compaction, draft.counter)
    added = draft.view[len(known.messages) : len(draft.view) - unsettled]
    known.add(added, draft.settled, draft.policy.max_tool_output)
    return known

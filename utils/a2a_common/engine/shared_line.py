"""`Load`: how busy the replicas of an agent are, and whether they take one more turn. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Load:
    """The turns of an agent over all its replicas, as one transaction sees them.

    Attributes:
        places: Turns that all replicas together run at the same time.
        running: Turns that run.
        waiting: Turns that do not run yet.
        conversations: Conversations with a turn that runs or waits.
        busy: Whether the conversation in question is one of them.
    """

    places: int
    running: int
    waiting: int
    conversations: int
    busy: bool

    @property
    def beginning(self) -> int:
        """Waiting turns that begin as soon as a replica fetches them: a free place, and none of their conversation runs."""
        return max(0, min(self.conversations - self.running, self.places - self.running))

    @property
    def blocked(self) -> int:
        """Waiting turns that have to wait for the end of another."""
        return self.waiting - self.beginning

    def takes(self, most_waiting: int) -> bool:
        """Whether a turn of the conversation would begin now, or find a place in the line."""
        begins = not self.busy and self.running + self.beginning < self.places
        return begins or self.blocked < most_waiting

"""What a run under limits of size left behind. Pure."""

from __future__ import annotations

from benchmarks.service.client import COMPLETED, Seen
from benchmarks.service.script import Order

MOST_GROWTH = 1.15
"""How much larger the last quarter of a run may be than its second one, at most: files and tables breathe between two looks."""

_MEGABYTE = 1_000_000


class Tally:
    """The counts of a run.

    Attributes:
        sizes: What was stored at each sample, in bytes.
        turns: Turns that ended.
        failed: Turns without a whole answer.
        deleted: Conversations that were deleted.
    """

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.turns = self.failed = self.deleted = 0

    def check(self, order: Order, seen: Seen) -> None:
        """Whether a turn ended as it must: nothing is deleted under a turn."""
        self.turns += 1
        if (seen.state, seen.text, seen.stored) != (COMPLETED, order.answer, order.answer):
            self.failed += 1
            print(f"failed: {order.text}: {seen.state} {seen.said[:160]!r} {seen.stored[:80]!r}", flush=True)

    @property
    def growth(self) -> float:
        """The largest size of the last quarter beside that of the second one; the first quarter fills up."""
        quarter = len(self.sizes) // 4
        early, late = self.sizes[quarter : 2 * quarter], self.sizes[-quarter:]
        return max(late) / max(early) if early and late else float("inf")

    def verdict(self) -> str:
        """The last line."""
        largest = max(self.sizes, default=0) / _MEGABYTE
        return (
            f"turns={self.turns} failed={self.failed} deleted={self.deleted} "
            f"largest_mb={largest:.2f} growth={self.growth:.2f}"
        )

    def passed(self) -> bool:
        """Whether all turns are whole, conversations were deleted, and what is stored did not grow."""
        return not self.failed and self.deleted > 0 and self.growth <= MOST_GROWTH

"""What came of the answers. Pure."""

from __future__ import annotations

from collections import Counter

from benchmarks.service.client import COMPLETED, OPEN, Seen
from benchmarks.service.script import Order

WRONGS = ("missing", "stuck", "vague", "unusable", "slow_reads")
"""What may never be: see `Tally`."""

_SHOWN = 6


class Tally:
    """The counts.

    Attributes:
        ended: Answers by what became of them: completed or failed.
        wrong: Completed answers that are not whole, as streamed or as stored (`missing`); tasks without an end (`stuck`);
            failures without code or sentence (`vague`); services that do not work again once the fault is over, or that do not
            name the damaged file (`unusable`); reads that waited for a locked write (`slow_reads`).
    """

    def __init__(self) -> None:
        self.ended: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()

    def fault(self, kind: str, text: str, times: int = 1) -> None:
        """Count something that went wrong; the first of each kind are printed."""
        self.wrong[kind] += times
        if self.wrong[kind] <= _SHOWN:
            print(f"  {kind}: {text}", flush=True)

    def check(self, what: str, order: Order, seen: Seen) -> None:
        """Whether an answer ended in a way that it may end in."""
        if seen.state in OPEN and seen.task_id:
            self.fault("stuck", f"{what}, {order.text}: {seen}")
        elif seen.state == COMPLETED:
            self.ended["completed"] += 1
            if not seen.text == seen.stored == order.answer:
                self.fault("missing", f"{what}: {_difference(order.answer, seen)}")
        else:
            self.ended["failed"] += 1
            if not (seen.said and (seen.code or seen.refusal)):
                self.fault(
                    "vague", f"{what}: {seen.state or 'no state'}, code {seen.code!r}, {seen.said[:120]!r}"
                )

    def verdict(self) -> str:
        """The last line."""
        counts = {"answers": self.ended.total(), **self.ended, **{kind: self.wrong[kind] for kind in WRONGS}}
        return " ".join(f"{name}={count}" for name, count in counts.items())


def _difference(whole: str, seen: Seen) -> str:
    words = whole.split()
    gone = {
        name: [word for word in words if word not in text.split()]
        for name, text in (("stream", seen.text), ("stored", seen.stored))
    }
    return f"{gone}, lengths {len(whole)}, {len(seen.text)}, {len(seen.stored)}"

"""How the requests of a run ended in which the database was away. Pure."""

from __future__ import annotations

from collections import Counter

from benchmarks.service.client import COMPLETED, FAILED, Seen
from benchmarks.service.script import Order

HAPPENED = ("answered", "failed", "refused", "later", "again", "recovered")
WRONGS = ("cut", "unclear", "incomplete", "stuck", "changed", "died")
"""What may never be: see `Tally`."""

_SHOWN = 6


class Tally:
    """The counts of a run.

    Attributes:
        happened: Requests that were answered whole (`answered`), whose task failed with code and sentence (`failed`), that were
            refused with a sentence (`refused`), told when to come again (`later`), or told to subscribe to their task again, which
            goes on in another process (`again`); those answered that were sent after the database was back (`recovered`).
        wrong: Connections that broke (`cut`), ends without a reason (`unclear`), answers of which a piece is missing
            (`incomplete`), tasks without an end (`stuck`), ends that are stored otherwise than they were told (`changed`),
            processes that ended (`died`).
        reasons: How often each reason was told.
    """

    def __init__(self) -> None:
        self.happened: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()

    def fault(self, kind: str, text: str) -> None:
        """Count something that went wrong; the first of each kind are printed."""
        self.wrong[kind] += 1
        if self.wrong[kind] <= _SHOWN:
            print(f"{kind}: {text}", flush=True)

    def check(self, order: Order, seen: Seen) -> None:
        """How one request ended."""
        found = f"{order.text}, task {seen.task_id}: {seen.state} {seen.code} {seen.refusal or ''} {seen.said[:160]!r}"
        if seen.state == COMPLETED:
            if seen.text == order.answer:
                self.happened["answered"] += 1
            else:
                self.fault("incomplete", f"{found}, {seen.text!r}")
        elif seen.state == FAILED and seen.code and seen.said:
            self._reason("failed", seen.code)
        elif seen.refusal and seen.said:
            self._reason("refused", seen.said)
        elif seen.again:
            self.happened["again"] += 1
        else:
            self.fault("unclear", found)

    def check_stored(self, told: Seen, state: str, text: str) -> None:
        """Whether what is stored of a task is what was told of its end."""
        ended = told.state in (COMPLETED, FAILED)
        if ended and (state != told.state or (state == COMPLETED and text != told.text)):
            self.fault("changed", f"task {told.task_id}: told {told.state}, stored {state} {text[:80]!r}")

    def _reason(self, kind: str, reason: str) -> None:
        self.happened[kind] += 1
        self.reasons[f"{kind}: {reason}"] += 1

    def verdict(self) -> str:
        """The last line."""
        counts = {name: self.happened[name] for name in HAPPENED} | {
            name: self.wrong[name] for name in WRONGS
        }
        return " ".join(f"{name}={count}" for name, count in counts.items())

    def passed(self) -> bool:
        """Whether nothing went wrong, requests met the outage, and the service works again."""
        met = sum(self.happened[name] for name in ("failed", "refused", "later", "again"))
        return not self.wrong.total() and met > 0 and self.happened["recovered"] > 0

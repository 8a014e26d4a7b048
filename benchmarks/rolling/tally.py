"""What a rolling restart left of the turns. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence

from benchmarks.service.client import COMPLETED, OPEN, Seen
from benchmarks.service.script import Order

WRONGS = ("failed", "incomplete", "stuck", "doubled", "refused", "crashed")
"""What may never be: see `Tally`."""

_SHOWN = 8


class Tally:
    """The counts of a run.

    Attributes:
        happened: What is no fault: turns of each kind (`streamed`, `blocking`), `restarts`, connections that broke (`breaks`),
            turns that another process continued (`continued`).
        wrong: Turns that did not complete (`failed`), answers of which a piece is missing, in the stream or as stored
            (`incomplete`), turns without an end (`stuck`), effects and messages that are there twice (`doubled`), requests that
            broke a provider's rule (`refused`), replicas that ended badly and exceptions in their logs (`crashed`).
    """

    def __init__(self) -> None:
        self.happened: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()

    def fault(self, kind: str, text: str, times: int = 1) -> None:
        """Count something that went wrong; the first of each kind are printed."""
        self.wrong[kind] += times
        if self.wrong[kind] <= _SHOWN:
            print(f"{kind}: {text}", flush=True)

    def check(self, order: Order, seen: Seen, *, streamed: bool) -> None:
        """Whether a turn ended as it must."""
        self.happened["streamed" if streamed else "blocking"] += 1
        self.happened["breaks"] += seen.breaks
        found = f"{order.text}, task {seen.task_id}, {seen.ended - seen.began:.1f} s: {seen.state} {seen.code} {seen.said[:160]!r}"
        if seen.state in OPEN and not seen.refusal:
            self.fault("stuck", found)
        elif seen.state != COMPLETED:
            self.fault("failed", f"{found} {seen.refusal or ''}")
        elif not seen.text == seen.stored == order.answer:
            self.fault("incomplete", f"{found}; seen {seen.text!r}, stored {seen.stored!r}")

    def check_effects(self, effects: Sequence[str]) -> None:
        """Whether every effect was there once at most."""
        for key, times in Counter(effects).items():
            if times > 1:
                self.fault("doubled", f"effect of {key}: {times} times", times - 1)

    def check_remarks(self, remarks: Counter[tuple[str, str]]) -> None:
        """What the model's double saw."""
        for (key, remark), times in remarks.items():
            if remark.startswith("refused"):
                self.fault("refused", remark, times)
            elif remark == "message doubled":
                self.fault("doubled", f"the message of {key} stands in its conversation twice", times)

    def check_log(self, lines: Iterable[str]) -> None:
        """What a replica wrote to its log."""
        for line in lines:
            try:
                entry = json.loads(line)
            except ValueError:
                if "Traceback" in line:
                    self.fault("crashed", line.strip())
                continue
            self.happened["continued"] += entry.get("event") == "turn.resumed"
            if "exception" in entry:
                self.fault("crashed", line.strip()[:400])

    def verdict(self) -> str:
        """The last line."""
        names = ("streamed", "blocking", "restarts", "breaks", "continued")
        counts = {name: self.happened[name] for name in names} | {name: self.wrong[name] for name in WRONGS}
        return " ".join(f"{name}={count}" for name, count in counts.items())

    def passed(self) -> bool:
        """Whether nothing went wrong, and turns were interrupted at all."""
        return not self.wrong.total() and self.happened["restarts"] > 0 and self.happened["continued"] > 0

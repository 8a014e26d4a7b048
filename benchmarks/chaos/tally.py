"""What happened and what went wrong in a run. Pure."""

from __future__ import annotations

from collections import Counter

from benchmarks.chaos.orders import EVENTS, MODEL_FAULTS, ORDERS, SUPERVISOR, Order

WRONGS = (
    "lost",
    "stuck",
    "rejected",
    "unrecovered",
    "leftover",
    "noisy",
    "crashed",
    "missing",
)
"""What may never be: see `Tally`."""

_SHOWN = 5


class Tally:
    """The counts of a run.

    Attributes:
        happened: How often each order really happened, and beside them: questions `asked` of the client, clients
            that `left` an open task, tasks `canceled` by their client, workers `killed` at work, and requests that the
            provider refused as `too_long` because the window that we were told is twice the real one.
        wrong: Conversations whose last question was answered wrongly (`lost`), tasks without an end (`stuck`),
            requests that broke a provider's rule (`rejected`), turns that did not end as they must (`unrecovered`),
            sockets, tasks of event loops and processes that stayed (`leftover`), tasks with more than one line on a
            closed queue (`noisy`), errors in the logs that nobody injected (`crashed`), and orders or events that
            were dealt but never happened (`missing`).
    """

    def __init__(self) -> None:
        self.happened: Counter[Order | str] = Counter()
        self.wrong: Counter[str] = Counter()

    def fault(self, kind: str, text: str, times: int = 1) -> None:
        """Count something that went wrong; the first of each kind are printed."""
        self.wrong[kind] += times
        if self.wrong[kind] <= _SHOWN:
            print(f"{kind}: {text}", flush=True)

    def demand_everything(self) -> None:
        """Count what never happened."""
        wanted: tuple[Order | str, ...] = (*ORDERS, *EVENTS)
        for each in wanted:
            if not self.happened[each]:
                self.fault("missing", str(each))

    def injected(self) -> str:
        """Everything that happened, with its count; of a model's faults the supervisor's and the worker's."""
        faults = [
            f"{kind} {'+'.join(str(count) for order, count in self._of(kind))}" for kind in MODEL_FAULTS
        ]
        others = [
            f"{order.kind} {self.happened[order]}" for order in ORDERS if order.kind not in MODEL_FAULTS
        ]
        return ", ".join((*faults, *others, *(f"{event} {self.happened[event]}" for event in EVENTS)))

    def verdict(self, conversations: int) -> str:
        """The last line."""
        return ", ".join(
            (f"{conversations} conversations", *(f"{self.wrong[kind]} {kind}" for kind in WRONGS))
        )

    def _of(self, kind: str) -> list[tuple[Order, int]]:
        found = [(order, self.happened[order]) for order in ORDERS if order.kind == kind]
        return sorted(found, key=lambda each: each[0].place != SUPERVISOR)

"""What was killed and what went wrong. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from benchmarks.chaos_kill.deal import ELSEWHERE, GROUPS, MODEL, Turn
from benchmarks.service.client import COMPLETED, OPEN, Seen

WRONGS = ("lost", "doubled", "stuck", "incomplete", "refused")
"""What may never be: see `Tally`."""

MOST_TAKE_OVERS = 2
MOST_APART = 0.05
LEAST_HITS = 0.5
_SHOWN = 8


class Tally:
    """The counts of a run.

    Attributes:
        kills: Kills by group of places.
        wrong: Conversations or tasks that are gone (`lost`), effects and messages that are there twice (`doubled`), tasks
            without an end (`stuck`), answers that are not whole (`incomplete`), requests that broke a provider's rule
            (`refused`).
        overkilled: Turns that were not finished, and of which a process was killed more than twice: they may fail.
        finished: Keys of the turns that were answered as they must be.
        unplaced: Kills that were dealt for a place that the turn never came to.
    """

    def __init__(self) -> None:
        self.kills: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.turns = 0
        self.overkilled = 0
        self.finished: set[str] = set()
        self.unplaced = 0
        self._killed: list[tuple[float, str]] = []
        self._sent_again: set[str] = set()

    def fault(self, kind: str, text: str, times: int = 1) -> None:
        """Count something that went wrong; the first of each kind are printed."""
        self.wrong[kind] += times
        if self.wrong[kind] <= _SHOWN:
            print(f"{kind}: {text}", flush=True)

    def killed(self, group: str, victims: Sequence[str], at: float) -> None:
        """Count a kill."""
        self.kills[group] += 1
        self._killed += [(at, victim) for victim in victims]

    def check(self, turn: Turn, seen: Seen) -> None:
        """Whether a turn ended as it must."""
        self.turns += 1
        if seen.state == COMPLETED and seen.text == seen.stored == turn.order.answer:
            self.finished.add(turn.order.key)
            if self.most_kills(seen) > MOST_TAKE_OVERS:
                self._sent_again.add(turn.order.key)
            return
        self.unfinished(seen, f"{turn.order.text} by {turn.binding}, kill {turn.kill or 'of others'}")

    def unfinished(self, seen: Seen, what: str) -> None:
        """A turn did not end as it must: it may where its process was killed more than twice."""
        if self.most_kills(seen) > MOST_TAKE_OVERS:
            self.overkilled += 1
            print(f"overkilled: {what}: {seen.state} {seen.code}", flush=True)
            return
        kind = "stuck" if seen.state in OPEN and not seen.refusal else "incomplete"
        self.fault(kind, f"{what}: {_shown(seen)}, kills {self.most_kills(seen)}")

    def check_effects(self, effects: Sequence[str]) -> None:
        """Whether every effect was there once at most."""
        for key, times in Counter(effects).items():
            if times > 1:
                self.doubled(key, f"effect of {key}: {times} times", times - 1)

    def doubled(self, key: str, text: str, times: int = 1) -> None:
        """Something was there twice. It may be where a turn failed because it was killed more than twice, and was sent again."""
        if key in self._sent_again:
            self.overkilled += 1
            print(f"overkilled: {text}", flush=True)
        else:
            self.fault("doubled", text, times)

    def most_kills(self, seen: Seen) -> int:
        """How often the agent that was killed most was killed in a turn."""
        hits = Counter(
            victim for at, victim in self._killed if victim != MODEL and seen.began < at < seen.ended
        )
        return max(hits.values(), default=0)

    def verdict(self, conversations: int) -> str:
        """The last line."""
        counts = {
            "conversations": conversations,
            "turns": self.turns,
            "kills": self.kills.total(),
            **{group: self.kills[group] for group in GROUPS},
            "unplaced": self.unplaced,
            **{kind: self.wrong[kind] for kind in WRONGS},
            "overkilled": self.overkilled,
        }
        return " ".join(f"{name}={count}" for name, count in counts.items())

    def passed(self) -> bool:
        """Whether nothing went wrong, and enough was tried."""
        kills = self.kills.total()
        hits = kills - self.kills[ELSEWHERE]
        enough = kills > 0 and hits >= LEAST_HITS * kills
        return enough and not self.wrong.total() and self.overkilled <= MOST_APART * self.turns


def _shown(seen: Seen) -> str:
    whole = "" if seen.text == seen.stored else f"; the stream {seen.text!r}, stored {seen.stored!r}"
    return (
        f"{seen.state or 'no state'} {seen.code} {seen.refusal or ''} {seen.said[:160]!r}, answer {seen.text[:80]!r}"
        f" ({seen.breaks} breaks){whole}, task {seen.task_id}, {seen.ended - seen.began:.1f} s"
    )

"""What an ingestion says while it runs and at its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What became of one document; `STARTED` is the first report and about none."""

    STARTED = "started"
    ADDED = "added"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Progress:
    """So many of all documents are done. `message` is a sentence where there is something to say."""

    done: int
    total: int
    source: str
    outcome: Outcome
    message: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts of one ingestion; `problems` has a sentence for each skipped document."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    problems: tuple[str, ...] = ()

    def __str__(self) -> str:
        counts = (
            f"{self.added} added, {self.updated} updated, {self.unchanged} unchanged, {self.removed} removed"
        )
        return f"{counts}, {len(self.problems)} skipped"


def summarise(events: list[Progress]) -> Summary:
    """The counts of what was reported."""

    def count(outcome: Outcome) -> int:
        return sum(event.outcome is outcome for event in events)

    return Summary(
        count(Outcome.ADDED),
        count(Outcome.UPDATED),
        count(Outcome.UNCHANGED),
        count(Outcome.REMOVED),
        tuple(event.message for event in events if event.outcome is Outcome.SKIPPED),
    )


OnProgress = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """For callers who only want the summary."""

"""What a task may use, and what it has used. Pure but for the clock that is read."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from utils.events import Usage

ENOUGH = 0.85
"""Share of a budget after which the model is asked to come to an end."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one task and everything below it; `None` is no limit.

    Attributes:
        tokens: Input and output tokens of all models.
        cost_usd: US dollars, as far as the models' prices are known.
        steps: Model calls.
        seconds: Time of work, without the time that the task waits for its user.
    """

    tokens: float | None = None
    cost_usd: float | None = None
    steps: float | None = None
    seconds: float | None = None

    @classmethod
    def parse(cls, payload: object) -> Budget:
        """The limits in a peer's data; whatever is no number above 0 is no limit."""
        if not isinstance(payload, Mapping):
            return cls()
        return cls(**{name: _limit(payload.get(name)) for name in ("tokens", "cost_usd", "steps", "seconds")})

    def to_payload(self) -> dict[str, float]:
        """The limits that are set."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def within(self, other: Budget) -> Budget:
        """The stricter of both, limit by limit."""
        ours, theirs = self.to_payload(), other.to_payload()
        names = ours.keys() | theirs.keys()
        return Budget(**{name: min(ours.get(name, math.inf), theirs.get(name, math.inf)) for name in names})


@dataclass(slots=True)
class Meter:
    """What one task has used so far: made anew for each request, counted by whoever spends.

    Attributes:
        budget: What it may use.
        usage: Tokens and cost, of this agent and those below it.
        steps: Model calls, of this agent and those below it where they tell.
        started: `time.monotonic()` at the start of the turn.
    """

    budget: Budget = field(default_factory=Budget)
    usage: Usage = field(default_factory=Usage)
    steps: float = 0
    started: float = field(default_factory=time.monotonic)

    def add(self, usage: Usage, steps: float = 0) -> None:
        """Count what was spent."""
        self.usage = self.usage + usage
        self.steps += steps

    @property
    def used(self) -> dict[str, float]:
        """What was used, by the names of the budget's limits."""
        return {
            "tokens": self.usage.input_tokens + self.usage.output_tokens,
            "cost_usd": self.usage.cost_usd,
            "steps": self.steps,
            "seconds": time.monotonic() - self.started,
        }

    def over(self, share: float = 1.0) -> str:
        """The limit of which at least `share` is used, or an empty string."""
        used = self.used
        for name, limit in self.budget.to_payload().items():
            if used[name] >= limit * share:
                return name
        return ""

    def nearly_over(self) -> bool:
        """Whether the next model call should be the last: steps are counted, the rest is foreseen."""
        steps = self.budget.steps
        return bool(self.over(ENOUGH)) or (steps is not None and self.steps + 1 >= steps)

    def left(self) -> Budget:
        """What those below may use: never nothing at all, since that would be no limit."""
        used = self.used
        limits = self.budget.to_payload().items()
        return Budget(**{name: max(limit - used[name], 1e-6) for name, limit in limits})


def _limit(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value < math.inf else None


def sentence(limit: str, budget: Budget) -> str:
    """Why a task came to its end, for a person."""
    amount = budget.to_payload()[limit]
    names = {"tokens": "tokens", "steps": "model calls", "seconds": "seconds", "cost_usd": "US dollars"}
    return f"I stopped because the budget of {amount:g} {names[limit]} for this task is used up."

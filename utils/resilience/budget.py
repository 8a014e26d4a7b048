"""Limits on the tokens, cost, steps and time of a task, and the meter of what it used. Pure but for the clock."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from utils.events import Usage

ENOUGH = 0.85
"""Share of a budget after which the model is asked to conclude."""

_LIMITS = ("tokens", "cost_usd", "steps", "seconds")


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one task and everything below it; `None` is no limit.

    Attributes:
        tokens: Input and output tokens of all models.
        cost_usd: US dollars, as far as the models' prices are known.
        steps: Model calls.
        seconds: Working time, without the time spent waiting for the user.
    """

    tokens: float | None = None
    cost_usd: float | None = None
    steps: float | None = None
    seconds: float | None = None

    @classmethod
    def parse(cls, payload: object) -> Budget:
        """Parse a peer's data; a value that is not a positive number sets no limit."""
        if not isinstance(payload, Mapping):
            return cls()
        return cls(**{name: _limit(payload.get(name)) for name in _LIMITS})

    def to_payload(self) -> dict[str, float]:
        """The limits that are set."""
        limits = {name: getattr(self, name) for name in _LIMITS}
        return {name: value for name, value in limits.items() if value is not None}

    def within(self, other: Budget) -> Budget:
        """The stricter of both values for each limit."""
        ours, theirs = self.to_payload(), other.to_payload()
        names = ours.keys() | theirs.keys()
        return Budget(**{name: min(ours.get(name, math.inf), theirs.get(name, math.inf)) for name in names})


@dataclass(slots=True)
class Meter:
    """What one task has used so far. One meter belongs to one request.

    Attributes:
        budget: What it may use.
        usage: Tokens and cost, of this agent and those below it.
        steps: Model calls of this agent, and of those below it as far as they report them.
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
        """The name of the first limit of which at least `share` is used, or an empty string."""
        used = self.used
        for name, limit in self.budget.to_payload().items():
            if used[name] >= limit * share:
                return name
        return ""

    def nearly_over(self) -> bool:
        """Whether the next model call should be the last: the last step, or another limit nearly used up."""
        steps = self.budget.steps
        return bool(self.over(ENOUGH)) or (steps is not None and self.steps + 1 >= steps)

    def left(self) -> Budget:
        """What sub-agents may use; at least a tiny amount, since 0 would mean no limit."""
        used = self.used
        limits = self.budget.to_payload().items()
        return Budget(**{name: max(limit - used[name], 1e-6) for name, limit in limits})


def _limit(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value < math.inf else None


def sentence(limit: str, budget: Budget) -> str:
    """Tells the user which limit ended the task."""
    amount = budget.to_payload()[limit]
    names = {"tokens": "tokens", "steps": "model calls", "seconds": "seconds", "cost_usd": "US dollars"}
    return f"I stopped because the budget of {amount:g} {names[limit]} for this task is used up."

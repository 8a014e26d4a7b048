"""What an agent of the house does with one message: the message says it, so that any process can go on with it."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

RESPONSE = "response"
"""The artifact that holds the text of an answer."""


@dataclass(frozen=True, slots=True)
class ToolStep:
    """A call of a tool: seconds that it takes, whether it is read-only, and whether it raises."""

    seconds: float
    read_only: bool
    fails: bool


@dataclass(frozen=True, slots=True)
class HouseScript:
    """Rounds of tool calls, one round for each answer of the model, and the pieces of the last answer."""

    rounds: tuple[tuple[ToolStep, ...], ...]
    pieces: tuple[str, ...]
    ending: str = "done"

    @property
    def steps(self) -> tuple[object, ...]:
        """What it does, for the trace."""
        return (*self.rounds, *self.pieces)

    def encode(self) -> str:
        """As the text of a message."""
        rounds = [[[step.seconds, step.read_only, step.fails] for step in each] for each in self.rounds]
        return json.dumps({"rounds": rounds, "pieces": self.pieces})

    @classmethod
    def decode(cls, text: str) -> HouseScript | None:
        """From the text of a message; `None` for one that holds none."""
        try:
            found = json.loads(text)
            rounds = tuple(tuple(ToolStep(*step) for step in each) for each in found["rounds"])
        except (ValueError, KeyError, TypeError):
            return None
        return cls(rounds, tuple(found["pieces"]))

    def artifacts(self, message: str) -> dict[str, str]:
        """The texts of a whole answer, by artifact."""
        del message
        return {RESPONSE: "".join(self.pieces)}


def deal(lots: random.Random) -> HouseScript:
    """A script by lot."""
    rounds = tuple(
        tuple(
            ToolStep(lots.choice((0.0, 0.01, 0.5, 3.0)), lots.random() < 0.4, lots.random() < 0.1)
            for _ in range(lots.choice((1, 1, 2, 3)))
        )
        for _ in range(lots.choice((0, 1, 1, 2, 3)))
    )
    pieces = tuple(
        f"{number}{'abcdefgh'[number % 8] * lots.choice((1, 3, 40))};"
        for number in range(lots.choice((1, 3, 10)))
    )
    return HouseScript(rounds, pieces)

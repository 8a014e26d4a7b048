"""What each conversation of the run is told to do: dealt from a deck that holds everything. Pure but for the seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

from utils.testing.strict_provider import Fault, FaultKind

SUPERVISOR, WORKER, STRANGER = "supervisor", "worker", "stranger"

MODEL_FAULTS: Mapping[str, Fault] = {
    "overflow": Fault.refusing("Input is too long for requested model."),
    "orphan": Fault.refusing(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
    ),
    "busy": Fault(FaultKind.RATE_LIMITED, retry_after=0.01),
    "server_error": Fault(FaultKind.SERVER_ERROR),
    "overloaded": Fault(FaultKind.OVERLOADED),
    "empty": Fault(FaultKind.EMPTY),
    "null_choices": Fault(FaultKind.NULL_CHOICES),
    "broken": Fault(FaultKind.BROKEN),
    "error_event": Fault(FaultKind.ERROR_EVENT),
    "refused": Fault(FaultKind.UNAUTHORISED),
}
"""Faults of a model call, each given once, at the first request of its place that carries the order."""

TOOL_KINDS: Mapping[str, str] = {
    "plain": "done",
    "slow": "done",
    "tool_error": "internal_error",
    "down": "upstream_unavailable",
    "tool_hang": "tool_timeout",
    "question": "The user said",
}
"""What the worker's tool does, and what its result then says."""

STRANGER_KINDS: Mapping[str, str] = {
    "rejected": "as rejected",
    "failed": "Could not do it",
    "login": "let in",
    "cut": "held on",
}
"""What the stranger does, and what the supervisor's result then says."""

REMARKS: Mapping[str, str] = {"long": "A long remark. " * 500, "longer": "A longer remark. " * 1_400}
"""What the client says at length: a third of the supervisor's real window, and nearly all of it."""

FAILING = {"refused", "tool_error", "down", "tool_hang", "rejected", "failed"}
"""What ends a task as failed; everything else is recovered from."""

ASKING = {"question": "TASK_STATE_INPUT_REQUIRED", "login": "TASK_STATE_AUTH_REQUIRED"}
"""What waits for the user."""

ACTIONS = ("send", "answer", "answer", "leave", "cancel")
"""What the client does: send and read, also answer a question, close the connection, cancel."""

LONGEST_LOOK = 8
"""Most events that are read before a client leaves or cancels."""


class Order(NamedTuple):
    """Something that shall go wrong, or be done, and where."""

    kind: str
    place: str


class Step(NamedTuple):
    """One turn of a conversation."""

    number: int
    order: Order
    action: str
    after: int

    @property
    def name(self) -> str:
        """How the order is found again in a request."""
        return f"order-{self.number} {self.order.kind} {self.order.place}"

    @property
    def text(self) -> str:
        """What the client says."""
        return f"Please run {self.name} {REMARKS.get(self.order.kind, '')}".strip()

    @property
    def ends(self) -> str:
        """The state of the task where nobody leaves, cancels or is killed."""
        if self.order.kind in FAILING:
            return "TASK_STATE_FAILED"
        waits = ASKING.get(self.order.kind)
        return waits if waits and self.action != "answer" else "TASK_STATE_COMPLETED"


ORDERS = (
    *(Order(*each) for each in product(MODEL_FAULTS, (SUPERVISOR, WORKER))),
    *(Order(kind, WORKER) for kind in TOOL_KINDS),
    *(Order(kind, STRANGER) for kind in STRANGER_KINDS),
    *(Order(kind, SUPERVISOR) for kind in REMARKS),
)
DECK = tuple(product(ORDERS, ACTIONS))
"""Every order with every action."""

EVENTS = ("asked", "left", "canceled", "killed", "too_long")
"""What happens beside the orders: see `Tally`."""


def deal(conversations: int, seed: int) -> list[list[Step]]:
    """One to three steps for each conversation, the same for the same seed."""
    dice = random.Random(seed)
    cards = _cards(dice)
    return [
        [
            Step(number * 10 + turn, *next(cards), dice.randint(1, LONGEST_LOOK))
            for turn in range(dice.randint(1, 3))
        ]
        for number in range(conversations)
    ]


def holds_everything(dealt: list[list[Step]]) -> bool:
    """Whether the whole deck was dealt."""
    return sum(map(len, dealt)) >= len(DECK)


def _cards(dice: random.Random) -> Iterator[tuple[Order, str]]:
    while True:
        yield from dice.sample(DECK, len(DECK))

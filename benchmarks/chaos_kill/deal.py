"""Which turns each conversation has, and which of them are hit by a kill, where. Pure but for the seed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import NamedTuple

from benchmarks.service.doors import BINDINGS
from benchmarks.service.script import ASK, LOOK, SAY, SUPERVISOR, WORK, WORKER, Order
from benchmarks.service.worker import IN_TOOL, TOOL_BEGINS

MODEL = "model"
SUPERVISOR_STREAM, WORKER_STREAM = f"{SUPERVISOR} stream", f"{WORKER} stream"
AT_ONCE_AFTER_BEGIN = ""
"""The place of a kill that waits for no place: it comes some time after the turn's message was sent."""

QUESTION = "question"
"""The place of a kill while the task waits for its user."""

CONVERSATIONS_A_KILL = 4
_ANY = (SAY, WORK, LOOK, ASK)
LONGEST_TURNS = 3


class Kind(NamedTuple):
    """One kind of kill.

    Attributes:
        group: What it is counted under.
        place: Where the turn is when its process is killed.
        victims: What is killed.
        locked: The agent whose checkpoints cannot be written from before the turn goes on until the kill.
        weight: How often it is dealt, beside the others.
    """

    group: str
    place: str
    victims: tuple[str, ...]
    locked: str = ""
    weight: int = 2


IN_STREAM, IN_DELEGATION, AFTER_TOOL, ELSEWHERE = "in_stream", "in_delegation", "after_tool", "elsewhere"
KINDS: Mapping[str, Kind] = {
    "tool begins": Kind("in_tool", TOOL_BEGINS, (WORKER,)),
    "in tool": Kind("in_tool", IN_TOOL, (WORKER,)),
    "after tool": Kind(AFTER_TOOL, IN_TOOL, (WORKER,), locked=WORKER),
    "after delegation": Kind(AFTER_TOOL, WORKER_STREAM, (SUPERVISOR,), locked=SUPERVISOR),
    "worker stream": Kind(IN_STREAM, WORKER_STREAM, (WORKER,)),
    "supervisor stream": Kind(IN_STREAM, SUPERVISOR_STREAM, (SUPERVISOR,), weight=3),
    "delegation": Kind(IN_DELEGATION, IN_TOOL, (SUPERVISOR,)),
    "late delegation": Kind(IN_DELEGATION, WORKER_STREAM, (SUPERVISOR,)),
    "both": Kind(IN_DELEGATION, IN_TOOL, (SUPERVISOR, WORKER), weight=1),
    "model": Kind("in_model", SUPERVISOR_STREAM, (MODEL,), weight=1),
    "worker's model": Kind("in_model", WORKER_STREAM, (MODEL,), weight=1),
    "supervisor any time": Kind(ELSEWHERE, AT_ONCE_AFTER_BEGIN, (SUPERVISOR,)),
    "waiting": Kind(ELSEWHERE, QUESTION, (SUPERVISOR, WORKER)),
    "worker any time": Kind(ELSEWHERE, AT_ONCE_AFTER_BEGIN, (WORKER,)),
}
GROUPS = tuple(dict.fromkeys(kind.group for kind in KINDS.values()))


class Turn(NamedTuple):
    """One turn of a conversation.

    Attributes:
        order: What is asked for.
        binding: Which client sends it.
        streamed: Whether the client reads a stream, or waits for the whole task.
        kill: The kind of kill that hits it; empty where none is dealt.
        pause: Seconds between the place and the kill, and between the kill and the restart.
    """

    order: Order
    binding: str
    streamed: bool
    kill: str
    pause: float


def deal(conversations: int, seed: int) -> list[list[Turn]]:
    """The turns of each conversation, the same for the same seed."""
    dice = random.Random(seed)
    counts = [dice.randint(1, LONGEST_TURNS) for _ in range(conversations)]
    names = [name for name, kind in KINDS.items() for _ in range(kind.weight)]
    kills: list[str] = []
    while len(kills) < max(1, conversations // CONVERSATIONS_A_KILL):
        kills += dice.sample(names, len(names))
    places = [(number, turn) for number, count in enumerate(counts) for turn in range(count)]
    kills = kills[: max(1, conversations // CONVERSATIONS_A_KILL)]
    hit = dict(zip(dice.sample(places, len(kills)), kills, strict=True))
    return [
        [_turn(dice, number, turn, hit.get((number, turn), "")) for turn in range(count)]
        for number, count in enumerate(counts)
    ]


def _turn(dice: random.Random, number: int, turn: int, kill: str) -> Turn:
    order = Order(f"{number}.{turn}", dice.choice(_kinds(KINDS[kill].place) if kill else _ANY))
    return Turn(order, dice.choice(BINDINGS), dice.random() < 0.6, kill, dice.uniform(0.01, 0.3))


def _kinds(place: str) -> tuple[str, ...]:
    """What a turn must do to come to a place."""
    if place in {TOOL_BEGINS, IN_TOOL, WORKER_STREAM}:
        return (WORK, LOOK)
    return (ASK,) if place == QUESTION else _ANY

"""How far a turn is in this process, and which transitions there are. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Stage(StrEnum):
    """How far a turn is in this process. Whether it has a place among those that run, the line knows."""

    NEW = "new"
    """It is being stored."""
    STORED = "stored"
    """It is stored, and has not begun."""
    RUNNING = "running"
    """Its run is under way."""
    HALTED = "halted"
    """It is canceled or put off before its run began: it never begins here."""
    STOPPING = "stopping"
    """It is canceled or put off while its run is under way."""
    ENDED = "ended"
    """Nothing of it is left in this process but its row."""
    CLOSED = "closed"
    """Its row is removed, or left to whoever goes on with it."""


class Transition(StrEnum):
    """What brings a turn from one stage to the next."""

    STORE = "store"
    """It is stored."""
    BEGIN = "begin"
    """Its run begins."""
    STOP = "stop"
    """It is canceled, or put off because the process ends; both may come, in any order."""
    END = "end"
    """Its run has returned, or there was none; also where it could not be stored."""
    CLOSE = "close"
    """Its row was seen to."""


TRANSITIONS: Mapping[Transition, Mapping[Stage, Stage]] = {
    Transition.STORE: {
        Stage.NEW: Stage.STORED,
        Stage.HALTED: Stage.HALTED,
    },
    Transition.BEGIN: {
        Stage.STORED: Stage.RUNNING,
    },
    Transition.STOP: {
        Stage.NEW: Stage.HALTED,
        Stage.STORED: Stage.HALTED,
        Stage.HALTED: Stage.HALTED,
        Stage.RUNNING: Stage.STOPPING,
        Stage.STOPPING: Stage.STOPPING,
        Stage.ENDED: Stage.ENDED,
        Stage.CLOSED: Stage.CLOSED,
    },
    Transition.END: {
        Stage.NEW: Stage.ENDED,
        Stage.HALTED: Stage.ENDED,
        Stage.RUNNING: Stage.ENDED,
        Stage.STOPPING: Stage.ENDED,
    },
    Transition.CLOSE: {
        Stage.ENDED: Stage.CLOSED,
        Stage.CLOSED: Stage.CLOSED,
    },
}
"""The legal transitions: for each transition the stages that it may come in, and what it makes of them."""

OVER = frozenset({Stage.ENDED, Stage.CLOSED})
"""Stages of a turn of which nothing runs or waits in this process any more."""


class IllegalTransition(RuntimeError):
    """A transition that cannot come in this stage: a fault of the engine."""


def after(stage: Stage, transition: Transition) -> Stage:
    """The stage after a transition.

    Raises:
        IllegalTransition: The transition cannot come now.
    """
    try:
        return TRANSITIONS[transition][stage]
    except KeyError:
        raise IllegalTransition(f"A turn that is {stage} cannot take the transition {transition}.") from None

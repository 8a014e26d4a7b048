"""The state machine of a turn in one process: its stages and the legal transitions. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Stage(StrEnum):
    """A stage of a turn in this process. The queue knows whether it has a place among the running turns."""

    NEW = "new"
    """It is being stored."""
    STORED = "stored"
    """It is stored and has not begun."""
    RUNNING = "running"
    """It runs."""
    HALTED = "halted"
    """It was canceled or suspended before its run began: it never begins here."""
    STOPPING = "stopping"
    """It was canceled or suspended while it ran."""
    ENDED = "ended"
    """Only its row is left."""
    CLOSED = "closed"
    """Its row is removed, or left to the process that continues the turn."""


class Transition(StrEnum):
    """A step of a turn from one stage to another."""

    STORE = "store"
    """It is stored."""
    BEGIN = "begin"
    """Its run begins."""
    STOP = "stop"
    """It is canceled, or suspended because the process ends; both may happen, in any order."""
    END = "end"
    """Its run has returned, or there was none; also if it could not be stored."""
    CLOSE = "close"
    """Its row was removed, or left on purpose."""


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
"""The legal transitions: for each transition, the stages that it is legal in and the stage that follows."""

OVER = frozenset({Stage.ENDED, Stage.CLOSED})
"""Stages in which nothing of the turn runs or waits in this process."""


class IllegalTransition(RuntimeError):
    """A transition that is not legal in this stage: a bug of the engine."""


def after(stage: Stage, transition: Transition) -> Stage:
    """The stage after a transition.

    Raises:
        IllegalTransition: The transition is not legal in this stage.
    """
    try:
        return TRANSITIONS[transition][stage]
    except KeyError:
        raise IllegalTransition(f"A turn that is {stage} cannot take the transition {transition}.") from None

"""Deliberate breaks of the product: each takes one guard away, so that a run of schedules must find it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

from utils.a2a_common.engine.recovery import Recovery
from utils.a2a_common.engine.resilient_jobs import ResilientJobManager
from utils.a2a_common.engine.sweeper import Sweeper
from utils.a2a_common.handler import admission, pending_input
from utils.a2a_common.tasks import transitions, writer
from utils.a2a_common.tasks.entries import Entry
from utils.a2a_common.tasks.live import LiveLog
from utils.a2a_common.tasks.other_replicas import OtherReplicas
from utils.a2a_common.tasks.states import TERMINAL
from utils.persistence import task_log_store
from utils.persistence.task_log_store import Stored, Write

Edit = tuple[object, str, Any]
"""An attribute of a module or a class, and what stands there instead."""

_refusal = task_log_store._refusal  # noqa: SLF001 - what a break takes away
_notify = LiveLog.notify
_after = LiveLog.after
_new_task_id = pending_input.new_task_id


def _no_fence() -> list[Edit]:
    """An older attempt may write."""

    def refusal(stored: Stored | None, write: Write) -> task_log_store.Refusal | None:
        if stored is not None and write.attempt < stored.attempt:
            write = replace(write, attempt=stored.attempt, after=stored.last)
        return _refusal(stored, write)

    return [(task_log_store, "_refusal", refusal)]


def _two_ends() -> list[Edit]:
    """What comes after the end of a turn is taken."""

    def apply(progress: transitions.TurnProgress, *rest: Any) -> transitions.Applied | transitions.Dropped:
        return transitions.apply(replace(progress, open=True, settled=False), *rest)

    return [(writer, "apply", apply), (task_log_store, "TERMINAL", frozenset())]


def _lost_wake_up() -> list[Edit]:
    """Nobody is woken by the end of a task."""

    def notify(self: LiveLog) -> None:
        if self.head is None or self.head.status.state not in TERMINAL:
            _notify(self)

    return [(LiveLog, "notify", notify)]


def _lease_kept_by_the_dead() -> list[Edit]:
    """No process takes up what a dead one left."""

    async def turns(_self: Recovery) -> list[Any]:
        return []

    return [(Recovery, "turns", turns), (Sweeper, "_sweep_once", _nothing)]


def _reader_skips() -> list[Edit]:
    """A reader that is at every seventh event misses the next one."""

    def after(self: LiveLog, sequence: int) -> Sequence[Entry]:
        entries = _after(self, sequence)
        return entries[1:] if sequence % 7 == 6 and len(entries) > 1 else entries

    return [(LiveLog, "after", after)]


def _runs_twice() -> list[Edit]:
    """A message that is sent again is a new one."""

    def new_task_id(*args: Any, **named: Any) -> str:
        return f"{_new_task_id(*args, **named)}-{uuid4()}"

    return [(admission, "new_task_id", new_task_id)]


async def _nothing(*_args: Any, **_named: Any) -> None:
    """What stands in the place of a guard."""


def _deaf_replica() -> list[Edit]:
    """A replica is not told what the others write."""
    return [(OtherReplicas, "_note", lambda _self, _task_id: None)]


def _lost_answer_forgotten() -> list[Edit]:
    """A job that a worker was given in an answer which it never got stays the worker's."""
    return [(ResilientJobManager, "_requeue_unknown", _nothing)]


def _stray_left() -> list[Edit]:
    """A turn that was accepted and never came into the queue stays out of it."""
    return [(Sweeper, "_requeue_strays", _nothing)]


BREAKS: dict[str, Callable[[], list[Edit]]] = {
    "no-fence": _no_fence,
    "two-ends": _two_ends,
    "lost-wake-up": _lost_wake_up,
    "lease-kept-by-the-dead": _lease_kept_by_the_dead,
    "reader-skips": _reader_skips,
    "runs-twice": _runs_twice,
}


REPLICA_BREAKS: dict[str, Callable[[], list[Edit]]] = {
    "deaf-replica": _deaf_replica,
    "lost-answer-forgotten": _lost_answer_forgotten,
    "stray-left": _stray_left,
}
"""Guards that only several replicas need."""


@contextmanager
def broken(name: str) -> Iterator[None]:
    """The product with one of its guards taken away; as it is for an empty name."""
    edits = (BREAKS | REPLICA_BREAKS)[name]() if name else []
    before = [(where, attribute, getattr(where, attribute)) for where, attribute, _ in edits]
    for where, attribute, value in edits:
        setattr(where, attribute, value)
    try:
        yield
    finally:
        for where, attribute, value in before:
            setattr(where, attribute, value)

"""Progress reports of a running delegation: no faster than a person can read, and a heartbeat during silence."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from utils.a2a_common.client.stream.events import ActivityReported, PeerEvent
from utils.a2a_common.protocol.extensions import activity_payload
from utils.cancellation import end_tasks
from utils.events import DelegationFinished, DelegationProgress, DelegationStarted, DelegationState

if TYPE_CHECKING:
    from utils.a2a_common.client.delegation.task_view import TaskView
    from utils.a2a_common.client.stream.message import RemoteCall

AWAY, BUSY = "away", "busy"
"""Why an agent is silent: it cannot be reached, or accepts no request now."""

PROGRESS_SECONDS = 10.0
"""Seconds of a remote agent's silence after which its caller reports that it still waits."""

AT_ONCE = 100
"""Signs of progress that are passed up as fast as they come."""

PER_SECOND = 5.0
"""How many more are passed up each second. Each one is a row in the task store and an event for every reader."""

Report = Callable[[DelegationStarted | DelegationProgress | DelegationFinished], None]


def is_progress(event: PeerEvent, task: TaskView, before: DelegationState) -> bool:
    """Whether an event is reported: an activity, or one that has changed the state of an open task from what it was before."""
    return isinstance(event, ActivityReported) or (task.state is not before and task.open)


def progress_of(
    call: RemoteCall, agent: str, task: TaskView, event: PeerEvent | None = None
) -> DelegationProgress:
    """The progress of a call: the state of its task, and the activity that an event reports."""
    return DelegationProgress(
        call_id=call.call_id,
        agent=agent,
        remote_task_id=task.task_id,
        state=task.state,
        activity=activity_payload(event.activity, event.agent)
        if isinstance(event, ActivityReported)
        else None,
    )


@asynccontextmanager
async def heartbeat(
    report: Report, waited: Callable[[float], DelegationProgress], every: float
) -> AsyncIterator[Report]:
    """Yield a `report` that also reports by itself whenever nothing was reported for `every` seconds.

    Args:
        report: Called with everything.
        waited: Makes the event for the seconds since the beginning.
        every: Seconds of silence.
    """
    began = last = time.monotonic()

    def noted(event: DelegationStarted | DelegationProgress | DelegationFinished) -> None:
        nonlocal last
        last = time.monotonic()
        report(event)

    async def speak() -> None:
        while True:
            if (left := last + every - time.monotonic()) > 0:
                await asyncio.sleep(left)
            else:
                noted(waited(time.monotonic() - began))

    speaking = asyncio.create_task(speak())
    try:
        yield noted
    finally:
        await end_tasks([speaking])


class ProgressGate:
    """Passes on the reports of one delegation, and drops progress that comes faster than a person can read.

    Args:
        report: Called with what passes.
        clock: Seconds since any moment.

    Attributes:
        left_out: How much progress was not passed on.
    """

    def __init__(self, report: Report, clock: Callable[[], float] = time.monotonic) -> None:
        self._report = report
        self._clock = clock
        self._room, self._then = float(AT_ONCE), clock()
        self.left_out = 0

    def __call__(self, event: DelegationStarted | DelegationProgress | DelegationFinished) -> None:
        """Report an event."""
        if isinstance(event, DelegationProgress) and not self._admits():
            self.left_out += 1
        else:
            self._report(event)

    def _admits(self) -> bool:
        now = self._clock()
        self._room = min(AT_ONCE, self._room + (now - self._then) * PER_SECOND)
        self._then = now
        if self._room < 1:
            return False
        self._room -= 1
        return True

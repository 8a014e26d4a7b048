"""What an agent says reaches the queue through one guard."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.server.events import EventQueue

from tests.e2e.wire.test_events import Step, told
from utils.a2a_common.execution.event_sink import EventSink
from utils.a2a_common.execution.guarded_queue import GuardedQueue
from utils.events import (
    Completed,
    Failed,
    InputRequired,
    PlanStep,
    PlanUpdated,
    StepStatus,
    TextDelta,
    ToolFinished,
    ToolStarted,
    ToolStatus,
    Usage,
    UsageReported,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


async def test_every_event_of_a_turn_passes_the_one_guard_before_the_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guarded: list[Any] = []
    queued: list[Any] = []
    guard, enqueue = EventSink._safe_enqueue_event, GuardedQueue.enqueue_event

    async def guarding(self: EventSink, queue: EventQueue, event: Any) -> bool:
        guarded.append(event)
        return await guard(self, queue, event)

    async def queueing(self: GuardedQueue, event: Any) -> None:
        queued.append(event)
        await enqueue(self, event)

    monkeypatch.setattr(EventSink, "_safe_enqueue_event", guarding)
    monkeypatch.setattr(GuardedQueue, "enqueue_event", queueing)
    work: list[Step] = [
        ToolStarted("c1", "lookup"),
        ToolFinished("c1", "lookup", ToolStatus.OK, 0.1),
        PlanUpdated((PlanStep("1", "Look", "keys", StepStatus.COMPLETED, 1),)),
        UsageReported({"saying": Usage(1, 1)}),
        TextDelta("It is a."),
    ]

    async def breaks() -> None:
        raise RuntimeError("broken")

    for end in (Completed(), Failed("no_answer", "No."), InputRequired("Which?", "saying"), breaks):
        await told(*work, end)
    assert len(guarded) > 4 * len(work)
    assert [id(event) for event in queued] == [id(event) for event in guarded]

"""What an agent says reaches the task log through one door."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.server.events import EventQueue

from tests.e2e.wire.test_events import Step, told
from utils.a2a_common.engine.event_queue import LogQueue
from utils.a2a_common.execution.event_sink import EventSink
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
    sent: list[Any] = []
    queued: list[Any] = []
    enqueue, append = EventSink._safe_enqueue_event, LogQueue.append

    async def enqueueing(self: EventSink, queue: EventQueue, event: Any) -> None:
        sent.append(event)
        await enqueue(self, queue, event)

    async def appending(self: LogQueue, event: Any) -> bool:
        queued.append(event)
        return await append(self, event)

    monkeypatch.setattr(EventSink, "_safe_enqueue_event", enqueueing)
    monkeypatch.setattr(LogQueue, "append", appending)
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
    assert len(sent) > 4 * len(work)
    assert [id(event) for event in queued] == [id(event) for event in sent]

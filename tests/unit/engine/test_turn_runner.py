"""Executors that were written for the SDK run unchanged, and every turn ends."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
import structlog
from a2a.helpers.proto_helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events.event_queue import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types.a2a_pb2 import Message, Part, Role, TaskState
from google.protobuf import json_format

from tests.unit.engine.turns import (
    CALL,
    OWNER,
    Executor,
    House,
    Work,
    answer,
    piece_of,
    status_of,
    task_of,
    turn,
)
from tests.unit.tasks.faulty_store import FaultyStore
from utils.a2a_common.engine.turn_executor import TurnExecutor, turn_executor
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.errors import ModelUnavailable


async def told(work: Work) -> tuple[House, Sequence[object]]:
    """What a reader gets of a turn of an executor."""
    house = House(Executor(work))
    await house.submit(turn("a"))
    events = await house.events("a")
    await house.settled("a")
    return house, events


def names(events: Sequence[object]) -> list[str]:
    return [type(event).__name__ for event in events]


def code_of(event: object) -> str:
    assert hasattr(event, "metadata")
    return str(json_format.MessageToDict(event.metadata)[ERROR_EXTENSION]["code"])


async def test_an_executor_with_a_task_updater_runs_unchanged() -> None:
    async def work(context: RequestContext, queue: EventQueue) -> None:
        assert context.message is not None
        await queue.enqueue_event(new_task_from_user_message(context.message))
        updater = TaskUpdater(queue, context.task_id or "", context.context_id or "")
        await updater.start_work()
        await updater.add_artifact([Part(text="Hello.")], name="greeting")
        await updater.complete()

    house, events = await told(work)
    assert names(events) == [
        "Task",
        "TaskStatusUpdateEvent",
        "TaskArtifactUpdateEvent",
        "TaskStatusUpdateEvent",
    ]
    snapshot = await house.log.snapshot("a", OWNER)
    assert snapshot is not None
    assert snapshot.task.artifacts[0].parts[0].text == "Hello."


async def test_an_executor_answers_with_one_message_and_no_task() -> None:
    async def work(context: RequestContext, queue: EventQueue) -> None:
        await queue.enqueue_event(Message(message_id="r", role=Role.ROLE_AGENT, parts=[Part(text="Hi.")]))

    house, events = await told(work)
    assert names(events) == ["Message"]
    assert await house.log.head("a", OWNER) is None
    await house.engine.drain(0)
    assert await house.row_ids() == []


async def raising(context: RequestContext, queue: EventQueue) -> None:
    raise RuntimeError("secret: the database's password")


async def raising_after_its_task(context: RequestContext, queue: EventQueue) -> None:
    await queue.enqueue_event(task_of(context))
    raise RuntimeError("secret")


async def saying_nothing(context: RequestContext, queue: EventQueue) -> None:
    """Returns."""


async def leaving_it_working(context: RequestContext, queue: EventQueue) -> None:
    await queue.enqueue_event(task_of(context))
    await queue.enqueue_event(status_of(context, "working"))


async def without_a_task(context: RequestContext, queue: EventQueue) -> None:
    await queue.enqueue_event(status_of(context, "completed"))


async def naming_another_task(context: RequestContext, queue: EventQueue) -> None:
    await queue.enqueue_event(task_of(context))
    event = piece_of(context, "Hello.")
    event.task_id = "another"
    await queue.enqueue_event(event)


async def mixing_modes(context: RequestContext, queue: EventQueue) -> None:
    await queue.enqueue_event(task_of(context))
    await queue.enqueue_event(Message(message_id="r", role=Role.ROLE_AGENT, parts=[Part(text="Hi.")]))


async def cancelling_itself(context: RequestContext, queue: EventQueue) -> None:
    await queue.enqueue_event(task_of(context))
    raise asyncio.CancelledError


async def down(context: RequestContext, queue: EventQueue) -> None:
    raise ModelUnavailable("The model is down.")


@pytest.mark.parametrize(
    ("work", "code"),
    [
        (raising, "internal_error"),
        (raising_after_its_task, "internal_error"),
        (saying_nothing, "no_answer"),
        (leaving_it_working, "no_answer"),
        (without_a_task, "protocol_violation"),
        (naming_another_task, "protocol_violation"),
        (mixing_modes, "protocol_violation"),
        (cancelling_itself, "internal_error"),
        (down, "model_unavailable"),
    ],
)
async def test_whatever_an_executor_leaves_open_is_a_failed_task_without_internal_text(
    work: Work, code: str
) -> None:
    house, events = await told(work)
    assert names(events)[0] == "Task"
    assert await house.state("a") == "failed"
    assert code_of(events[-1]) == code
    assert "secret" not in str(events)


async def test_an_executor_that_waits_for_an_authentication_out_of_band_goes_on_in_the_same_run() -> None:
    granted = asyncio.Event()

    async def work(context: RequestContext, queue: EventQueue) -> None:
        await queue.enqueue_event(task_of(context))
        await queue.enqueue_event(status_of(context, "auth_required", "Sign in at the other window."))
        await granted.wait()
        await queue.enqueue_event(status_of(context, "working"))
        await queue.enqueue_event(piece_of(context, "Signed in."))
        await queue.enqueue_event(status_of(context, "completed"))

    house = House(Executor(work))
    await house.submit(turn("a"))
    assert len(await house.events("a")) == 2
    assert await house.state("a") == "auth_required"
    assert house.engine.under_way("a")
    granted.set()
    assert await house.settled("a") == ["completed"]


async def test_an_authentication_that_is_waited_for_is_canceled() -> None:
    async def work(context: RequestContext, queue: EventQueue) -> None:
        await queue.enqueue_event(task_of(context))
        await queue.enqueue_event(status_of(context, "auth_required", "Sign in."))
        await asyncio.Event().wait()

    house = House(Executor(work))
    await house.submit(turn("a"))
    await house.events("a")
    await house.engine.cancel("a", OWNER, CALL)
    assert await house.state("a") == "canceled"
    assert house.executor.stopped == ["a"]


async def test_a_crash_while_an_authentication_is_waited_for_fails_the_task() -> None:
    async def work(context: RequestContext, queue: EventQueue) -> None:
        await queue.enqueue_event(task_of(context))
        await queue.enqueue_event(status_of(context, "auth_required", "Sign in."))
        raise RuntimeError("broken")

    house = House(Executor(work))
    await house.submit(turn("a"))
    assert await house.settled("a") == ["failed"]


async def test_a_cancel_of_an_executor_that_raises_ends_canceled_all_the_same() -> None:
    class Refusing(Executor):
        async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
            raise RuntimeError("cancel is not supported")

    house = House(Refusing())
    house.executor.gate.clear()
    await house.submit(turn("a"))
    await house.executor.begun(1)
    await house.engine.cancel("a", OWNER, CALL)
    assert await house.state("a") == "canceled"


async def test_a_cancel_that_never_returns_is_waited_for_a_while_and_ends_canceled() -> None:

    class Hanging(Executor):
        async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
            await asyncio.Event().wait()

    executor = Hanging()
    executor.gate.clear()
    house = House(executor, stop_seconds=0.0)
    await house.submit(turn("a"))
    await executor.begun(1)
    with structlog.testing.capture_logs() as logs:
        async with asyncio.timeout(60):
            await house.engine.cancel("a", OWNER, CALL)
            assert await house.state("a") == "canceled"
            await house.engine.drain(0.0)
    told = [(line["event"], line["log_level"]) for line in logs if line["event"].startswith("cancel.")]
    assert told == [("cancel.timed_out", "warning")]


async def test_a_cancel_that_the_executor_writes_itself_is_the_one_end() -> None:
    class Writing(Executor):
        async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
            await TaskUpdater(event_queue, context.task_id or "", context.context_id or "").cancel()

    async def work(context: RequestContext, queue: EventQueue) -> None:
        await queue.enqueue_event(task_of(context))
        await asyncio.Event().wait()

    house = House(Writing(work))
    await house.submit(turn("a"))
    await house.executor.begun(1)
    await house.engine.cancel("a", OWNER, CALL)
    assert names(await house.events("a")) == ["Task", "TaskStatusUpdateEvent"]


async def test_a_run_whose_events_cannot_be_stored_is_stopped_and_its_task_failed() -> None:
    async def work(context: RequestContext, queue: EventQueue) -> None:
        await queue.enqueue_event(task_of(context))
        store.failing.add("*")
        await queue.enqueue_event(status_of(context, "working"))
        await asyncio.Event().wait()

    store = FaultyStore()
    house = House(Executor(work), store=store)
    await house.submit(turn("a"))
    events = await house.events("a")
    assert await house.settled("a") == ["failed"]
    assert code_of(events[-1]) == "storage_failed"
    assert house.executor.stopped == ["a"]
    assert not house.executor.contexts[0].suspended.is_set()
    store.failing.clear()
    await house.engine.drain(0)
    await house.log.close()


async def test_events_of_an_executor_that_returned_are_dropped() -> None:
    late = asyncio.Event()

    async def work(context: RequestContext, queue: EventQueue) -> None:
        await answer(context, queue)

        async def afterwards() -> None:
            await queue.enqueue_event(piece_of(context, "Too late.", append=True))
            late.set()

        house.background = asyncio.create_task(afterwards())  # type: ignore[attr-defined]

    house = House(Executor(work))
    await house.submit(turn("a"))
    await late.wait()
    assert names(await house.events("a"))[-1] == "TaskStatusUpdateEvent"
    assert await house.state("a") == "completed"


async def test_a_resumed_turn_has_its_caller_and_its_trace_and_no_credential() -> None:
    from dataclasses import replace

    before = House(Executor(resumable=True))
    before.executor.gate.clear()
    asked = replace(
        turn("a"),
        user="ann",
        tenant="blue",
        extensions=frozenset({"urn:x"}),
        trace={"traceparent": "00-1-2-01"},
        deadline=4e9,
    )
    await before.submit(asked)
    after = before.next(Executor(resumable=True))
    await after.engine.start()
    await after.settled("a")
    context = after.executor.contexts[0]
    call = context.call_context
    assert (call.user.user_name, call.user.is_authenticated, call.tenant) == ("ann", True, "blue")
    assert call.requested_extensions == {"urn:x"}
    assert call.state == {"headers": {"traceparent": "00-1-2-01"}}
    assert (context.deadline, context.resumed, context.answers) == (4e9, True, False)
    assert context.current_task is None or context.current_task.status.state == TaskState.TASK_STATE_SUBMITTED


def test_an_executor_written_for_the_sdk_alone_is_asked_nothing_beside_its_work() -> None:
    class Plain(AgentExecutor):
        resumable = True  # of its own, and no promise to the engine

        async def execute(self, context: RequestContext, event_queue: EventQueue) -> None: ...

        async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None: ...

    known = Executor(resumable=True)
    assert not turn_executor(Plain()).resumable
    assert turn_executor(known) is known


def test_an_executor_with_a_misspelt_hook_cannot_be_made() -> None:
    class Misspelt(TurnExecutor):
        resumable = begins_with_task = True

        async def execute(self, context: RequestContext, event_queue: EventQueue) -> None: ...

        async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None: ...

        async def abandon(self, task_id: str) -> None: ...

        async def forgett(self, task_id: str) -> None: ...

    with pytest.raises(TypeError, match="forget"):
        Misspelt()  # type: ignore[abstract]

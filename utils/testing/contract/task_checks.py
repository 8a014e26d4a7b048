"""How tasks of any A2A agent begin, change, end, and are read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any
from uuid import uuid4

from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
    TaskState,
)
from a2a.utils.errors import (
    A2AError,
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)

from utils.testing.contract.session import ENDED, WAITING, Broken, Session, Skipped


async def send_answers(session: Session) -> None:
    """A message is answered with a task or a message."""
    answer = await session.answer()
    if isinstance(answer, Task) and not answer.id:
        raise Broken("the task has no id")


async def context_is_generated(session: Session) -> None:
    """A message without a context gets one."""
    if not (await session.answer()).context_id:
        raise Broken("the answer has no contextId")


async def context_of_the_client_is_kept(session: Session) -> None:
    """A contextId that the client chose stays."""
    chosen = str(uuid4())
    got = (await session.send(context_id=chosen)).context_id
    if got != chosen:
        raise Broken(f"the answer has another contextId ({got or 'none'})")


async def stream_begins_right(session: Session) -> None:
    """The task first, or exactly one message."""
    events = await session.stream()
    first = events[0].WhichOneof("payload")
    if first == "message" and len(events) > 1:
        raise Broken("more events follow a message")
    if first not in {"task", "message"}:
        raise Broken(f"the first event is {first}")


async def stream_of_a_reply_begins_right(session: Session) -> None:
    """The stream of an answer to a question begins with the task that asked."""
    asked = await session.streamed_task()
    if _state(asked[-1]) not in WAITING:
        raise Skipped("the agent asks nothing; choose an --ask that it answers with a question")
    task = asked[0].task
    events = [event async for event in session.follow(context_id=task.context_id, task_id=task.id)]
    first = events[0].WhichOneof("payload") if events else "none"
    if first != "task":
        raise Broken(f"the first event is {first}")
    if events[0].task.id != task.id:
        raise Broken("it begins with another task")


async def stream_ends_once(session: Session) -> None:
    """One state that ends the stream, as its last event."""
    events = await session.streamed_task()
    states = [(index, state) for index, state in enumerate(map(_state, events)) if state in ENDED | WAITING]
    if not states:
        raise Broken("the stream closed without a state that ends it")
    if len(states) > 1 and len({state for _, state in states}) > 1:
        raise Broken(f"it ended more than once: {', '.join(_name(state) for _, state in states)}")
    if states[0][0] != len(events) - 1:
        raise Broken(f"{len(events) - 1 - states[0][0]} events follow {_name(states[0][1])}")


async def stream_names_one_task(session: Session) -> None:
    """Every event carries the ids of the task that the stream began with."""
    events = await session.streamed_task()
    task = events[0].task
    for event in events[1:]:
        kind = event.WhichOneof("payload")
        if kind not in {"status_update", "artifact_update"}:
            continue
        update: Any = getattr(event, kind)
        if (update.task_id, update.context_id) != (task.id, task.context_id):
            raise Broken(f"a {kind} names another task or context")


async def artifacts_are_appended_to_what_exists(session: Session) -> None:
    """Chunks append to an artifact that was begun, until its last one."""
    begun: set[str] = set()
    closed: set[str] = set()
    for event in await session.streamed_task():
        if event.WhichOneof("payload") != "artifact_update":
            continue
        update = event.artifact_update
        name = update.artifact.artifact_id
        if update.append and name not in begun:
            raise Broken(f"a chunk is appended to artifact {name}, which was not begun")
        if update.append and name in closed:
            raise Broken(f"a chunk is appended to artifact {name} after its last one")
        begun.add(name)
        (closed.add if update.last_chunk else closed.discard)(name)


async def last_chunk_is_marked(session: Session) -> None:
    """A client knows when an artifact that is sent in chunks is complete."""
    events = await session.streamed_task()
    updates = [event.artifact_update for event in events if event.HasField("artifact_update")]
    in_chunks = {update.artifact.artifact_id for update in updates if update.append}
    completed = {update.artifact.artifact_id for update in updates if update.last_chunk}
    if open_artifacts := in_chunks - completed:
        raise Broken(f"no chunk of artifact {min(open_artifacts)} is the last one")


async def stored_task_says_the_same(session: Session) -> None:
    """The stored task has the content that was streamed."""
    events = await session.streamed_task()
    stored = await session.unary.get_task(GetTaskRequest(id=events[0].task.id), context=session.context)
    last = next((state for state in reversed([_state(event) for event in events]) if state), None)
    if last in ENDED and stored.status.state != last:
        raise Broken(f"streamed {_name(last)}, stored {_name(stored.status.state)}")
    if _streamed_text(events) != _stored_text(stored):
        raise Broken("the stored artifacts hold another text than the stream told")


async def unknown_task_is_not_found(session: Session) -> None:
    """An unknown task is reported as not found."""
    get = session.unary.get_task(GetTaskRequest(id=str(uuid4())), context=session.context)
    await _refused(get, TaskNotFoundError)
    cancel = session.unary.cancel_task(CancelTaskRequest(id=str(uuid4())), context=session.context)
    await _refused(cancel, TaskNotFoundError)


async def message_to_an_unknown_task_is_refused(session: Session) -> None:
    """A client does not choose the id of a task."""
    if isinstance(await session.answer(), Message):
        raise Skipped("the agent answers with a message, without a task")
    await _refused(session.send(task_id=str(uuid4())), TaskNotFoundError)


async def history_of_length_0_is_none(session: Session) -> None:
    """`historyLength` 0 asks for no history."""
    if not session.lists_tasks:
        raise Skipped("protocol 0.3 does not tell 0 from nothing")
    task = await session.ended_task()
    shown = await session.unary.get_task(
        GetTaskRequest(id=task.id, history_length=0), context=session.context
    )
    if shown.history:
        raise Broken(f"{len(shown.history)} messages of history were sent")


async def ended_task_is_not_cancelable(session: Session) -> None:
    """What ended cannot be cancelled."""
    task = await session.ended_task()
    cancel = session.unary.cancel_task(CancelTaskRequest(id=task.id), context=session.context)
    await _refused(cancel, TaskNotCancelableError)


async def ended_task_takes_no_message(session: Session) -> None:
    """What ended is not begun again."""
    task = await session.ended_task()
    await _refused(
        session.send(task_id=task.id, context_id=task.context_id),
        UnsupportedOperationError,
        InvalidParamsError,
    )


async def ended_task_takes_no_subscriber(session: Session) -> None:
    """There is nothing to follow in what ended."""
    if not session.card.capabilities.streaming:
        raise Skipped("the card declares no streaming")
    task = await session.ended_task()
    await _refused(_first(session, task.id), UnsupportedOperationError)


async def another_context_is_refused(session: Session) -> None:
    """A task does not move to another conversation."""
    task = await session.ended_task()
    await _refused(session.send(task_id=task.id, context_id=str(uuid4())), A2AError)


async def running_task_can_be_cancelled(session: Session) -> None:
    """Where a cancel is granted, the task ends canceled and stays so."""
    if not session.card.capabilities.streaming:
        raise Skipped("the card declares no streaming, so that nothing is seen while it runs")
    task_id, cancelled, states = "", None, list[Any]()
    async for event in session.follow():
        states.append(_state(event))
        if event.WhichOneof("payload") == "task" and cancelled is None:
            task_id = event.task.id
            cancelled = asyncio.ensure_future(
                session.unary.cancel_task(CancelTaskRequest(id=task_id), context=session.context)
            )
    if cancelled is None:
        raise Skipped("the agent answers with a message, without a task")
    try:
        answer = await cancelled
    except (TaskNotCancelableError, UnsupportedOperationError) as error:
        raise Skipped("the task ended before, or the agent grants no cancel") from error
    if answer.status.state != TaskState.TASK_STATE_CANCELED:
        raise Skipped(f"the task was {_name(answer.status.state)} when the cancel was answered")
    after = await session.unary.get_task(GetTaskRequest(id=task_id), context=session.context)
    if after.status.state != TaskState.TASK_STATE_CANCELED:
        raise Broken(f"after the cancel the task became {_name(after.status.state)}")
    if TaskState.TASK_STATE_COMPLETED in states:
        raise Broken("the stream told completed beside the cancel")


async def _first(session: Session, task_id: str) -> object:
    async with asyncio.timeout(session.seconds):
        async for event in session.streaming.subscribe(
            SubscribeToTaskRequest(id=task_id), context=session.context
        ):
            return event
    raise Broken("the stream ended without an event and without an error")


async def _refused(call: Awaitable[object], *wanted: type[A2AError]) -> None:
    try:
        await call
    except wanted:
        return
    except A2AError as error:
        names = " or ".join(kind.__name__ for kind in wanted)
        raise Broken(f"refused with {type(error).__name__} in place of {names}") from error
    raise Broken(f"it was answered in place of {wanted[0].__name__}")


def _state(event: StreamResponse) -> Any:
    kind = event.WhichOneof("payload")
    if kind == "status_update":
        return event.status_update.status.state
    return event.task.status.state if kind == "task" else None


def _name(state: Any) -> str:
    return TaskState.Name(state).removeprefix("TASK_STATE_").lower()


def _text(parts: Any) -> str:
    return "".join(part.text for part in parts)


def _streamed_text(events: Sequence[StreamResponse]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for event in events:
        kind = event.WhichOneof("payload")
        if kind == "task":
            texts |= _stored_text(event.task)
        elif kind == "artifact_update":
            update = event.artifact_update
            name = update.artifact.artifact_id
            texts[name] = (texts.get(name, "") if update.append else "") + _text(update.artifact.parts)
    return texts


def _stored_text(task: Task) -> dict[str, str]:
    return {one.artifact_id: _text(one.parts) for one in task.artifacts}

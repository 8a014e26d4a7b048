"""The task log: what writers may add, what readers see and when, and what becomes of a storage that fails."""

import asyncio
from contextlib import aclosing

import pytest
from a2a.types.a2a_pb2 import ListTasksRequest, TaskState, TaskStatusUpdateEvent
from a2a.utils.errors import TaskNotFoundError
from google.protobuf.json_format import MessageToDict

from tests.unit.tasks.events import (
    ASKING,
    AUTH,
    CANCELED,
    COMPLETED,
    FAILED,
    WORKING,
    chunk,
    said,
    status,
    task,
)
from tests.unit.tasks.faulty_store import FaultyStore
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.a2a_common.tasks import backlog
from utils.a2a_common.tasks.log import Entry, Fenced, Suspended, TaskLog, TaskWriter
from utils.errors import ProtocolViolation, StorageError


@pytest.fixture
async def store():
    return FaultyStore()


@pytest.fixture
async def log(store):
    made = TaskLog(store, clock=lambda: 1000.0)
    await made.open()
    yield made
    await made.close()


async def started(log: TaskLog, task_id: str = "t") -> TaskWriter:
    writer = await log.claim(task_id, "ann")
    await writer.append(task(task_id))
    await writer.append(status(WORKING, task_id=task_id))
    return writer


async def everything(log: TaskLog, after: int = 0, task_id: str = "t") -> list[Entry]:
    return [entry async for entry in log.read(task_id, "ann", after=after)]


async def state_of(log: TaskLog) -> TaskState:
    head = await log.head("t", "ann")
    assert head is not None
    return head.status.state


async def settled_text(log: TaskLog) -> str:
    snapshot = await log.snapshot("t", "ann")
    assert snapshot is not None
    return snapshot.task.artifacts[0].parts[0].text


async def test_a_reader_gets_every_event_once_and_ends_with_the_turn(log):
    writer = await log.claim("t", "ann")
    reading = asyncio.create_task(everything(log))
    for event in (task(), status(WORKING), chunk("a", append=False), chunk("b"), status(COMPLETED)):
        assert await writer.append(event)
    entries = await reading
    assert [entry.sequence for entry in entries] == [1, 2, 3, 4, 5]
    assert [type(entry.event).__name__ for entry in entries][:2] == ["Task", "TaskStatusUpdateEvent"]
    assert entries[-1].settles
    writer.release()
    assert await everything(log) == entries  # now from the store
    assert await everything(log, after=5) == []


async def test_what_comes_after_the_end_is_refused(log):
    writer = await started(log)
    assert await writer.append(status(COMPLETED))
    assert not await writer.append(chunk("late", append=False))
    assert not await writer.append(status(FAILED))
    assert writer.settled


async def test_readers_see_a_chunk_at_once_and_the_end_only_when_it_is_stored(log, store):
    writer = await started(log)
    store.open_gate.clear()
    await writer.append(chunk("a", append=False))
    ending = asyncio.create_task(writer.append(status(COMPLETED)))
    async with aclosing(log.read("t", "ann", after=2)) as entries:
        assert (await anext(entries)).event == chunk("a", append=False)
        following = asyncio.ensure_future(anext(entries))
        await store.arrived.wait()
        await asyncio.sleep(0)
        assert await state_of(log) == WORKING
        assert not following.done()
        store.open_gate.set()
        assert (await following).settles
    assert await ending


async def test_events_that_nobody_waits_for_are_stored_together(log, store):
    writer = await started(log)
    for number in range(9):
        await writer.append(chunk("a", append=bool(number)))
    await writer.flushed()
    assert [len(write.records) for write in store.writes] == [1, 10]


async def test_an_end_is_stored_at_once_with_all_that_was_gathered_before_it(log, store, monkeypatch):
    monkeypatch.setattr(backlog, "GATHER_SECONDS", 3600)
    writer = await started(log)
    await writer.append(chunk("a", append=False))
    async with asyncio.timeout(60):
        assert await writer.append(status(COMPLETED))
    assert [len(write.records) for write in store.writes] == [1, 3]


async def test_a_snapshot_and_the_events_after_it_are_the_whole_task(log, store):
    writer = await started(log)
    await writer.append(chunk("a", append=False))
    store.open_gate.clear()
    await writer.append(chunk("b"))
    snapshot = await log.snapshot("t", "ann")  # does not wait for the write
    assert snapshot is not None
    assert snapshot.task.artifacts[0].parts[0].text == "ab"
    store.open_gate.set()
    await writer.append(status(COMPLETED))
    rest = await everything(log, after=snapshot.sequence)
    assert [entry.sequence for entry in rest] == [snapshot.sequence + 1]
    assert await settled_text(log) == "ab"


async def test_a_later_attempt_fences_off_the_one_before_and_loses_none_of_its_events(log):
    first = await started(log)
    await first.append(chunk("a", append=False))
    reading = asyncio.create_task(everything(log, after=2))
    second = await log.claim("t", "ann")
    assert first.lost.is_set()
    assert first.reason == "fenced"
    with pytest.raises(Fenced):
        await first.append(chunk("x"))
    first.release()
    await second.append(chunk("b"))
    await second.append(status(COMPLETED))
    entries = await reading
    assert [type(entry.event).__name__ for entry in entries] == 2 * ["TaskArtifactUpdateEvent"] + [
        "TaskStatusUpdateEvent"
    ]
    assert entries == await everything(log, after=2)
    assert await settled_text(log) == "ab"


async def test_another_process_fences_off_a_writer_and_cuts_its_readers(log, store):
    stalled = await started(log)
    await stalled.flushed()
    other = TaskLog(store)
    taken = await other.claim("t", "ann")
    reading = asyncio.create_task(everything(log, after=2))
    await asyncio.sleep(0)
    await stalled.append(chunk("x", append=False))
    await stalled.lost.wait()
    assert stalled.reason == "fenced"
    with pytest.raises(Suspended):
        await reading
    await taken.append(status(COMPLETED))
    assert (await everything(log))[-1].settles


async def test_no_event_of_a_later_attempt_has_the_number_of_one_that_was_lost(log, store):
    stalled = await started(log)
    await stalled.flushed()
    store.open_gate.clear()
    await stalled.append(chunk("lost", append=False))
    seen = [(await anext(log.read("t", "ann", after=2))).sequence]
    taken = await TaskLog(store).claim("t", "ann")
    store.open_gate.set()
    await stalled.lost.wait()
    await taken.append(chunk("again", append=False))
    await taken.append(status(COMPLETED))
    after = await everything(log, after=seen[-1])
    assert [type(entry.event).__name__ for entry in after] == [
        "TaskArtifactUpdateEvent",
        "TaskStatusUpdateEvent",
    ]


async def test_a_write_that_fails_ends_its_own_task_and_no_other(log, store):
    ill, well = await started(log), await started(log, "well")
    store.failing.add("t")
    await ill.append(chunk("a", append=False))
    await well.append(chunk("a", append=False, task_id="well"))
    await ill.lost.wait()
    assert ill.reason == "storage"
    with pytest.raises(StorageError):
        await ill.append(chunk("b"))
    end = (await everything(log, after=2))[-1].event
    assert isinstance(end, TaskStatusUpdateEvent)
    assert end.status.state == FAILED
    assert MessageToDict(end.metadata)[ERROR_EXTENSION]["code"] == StorageError.code
    assert end.status.message.parts[0].text
    assert await state_of(log) == FAILED
    assert await well.append(status(COMPLETED, task_id="well"))


async def test_the_end_of_a_failed_task_is_tried_until_it_is_stored(log, store):
    writer = await started(log)
    store.failing.add("t")
    await writer.append(chunk("a", append=False))
    await writer.lost.wait()
    writer.release()
    store.failing.clear()
    again = await log.claim("t", "ann")  # waits for the end
    assert again.settled
    assert await state_of(TaskLog(store)) == FAILED


async def test_an_end_that_was_dropped_for_another_attempt_is_not_read_any_more(log, store):
    writer = await started(log)
    await writer.flushed()
    async with aclosing(log.read("t", "ann")) as reading:  # it keeps the log in memory
        await anext(reading)
        store.failing.add("t")
        await writer.append(chunk("a", append=False))
        await writer.lost.wait()
        writer.release()
        assert await state_of(log) == FAILED
        taken = await TaskLog(store).claim("t", "ann")
        store.failing.clear()
        await log._ends.settle("t")
        assert await state_of(log) == WORKING
        assert [entry.sequence for entry in await everything(log)] == [1, 2]
        assert (await anext(reading)).sequence == 2
        with pytest.raises(Suspended):
            await anext(reading)
        await taken.append(status(COMPLETED))
        assert [entry.settles for entry in await everything(log)] == [False, False, True]


async def test_readers_of_this_process_follow_a_claim_that_found_the_task_taken_by_another(log, store):
    stalled = await started(log)
    await stalled.flushed()
    store.open_gate.clear()
    await stalled.append(chunk("a", append=False))
    await TaskLog(store).claim("t", "ann")
    claiming = asyncio.create_task(log.claim("t", "ann"))
    await stalled.lost.wait()
    store.open_gate.set()
    writer = await claiming
    reading = asyncio.create_task(everything(log, after=2))
    await asyncio.sleep(0)
    assert await writer.append(status(COMPLETED))
    assert [entry.settles for entry in await reading] == [True]


async def test_a_write_whose_answer_was_lost_is_found_and_fails_nothing(log, store):
    writer = await started(log)
    store.unanswered = True
    await writer.append(chunk("a", append=False))
    assert await writer.append(status(COMPLETED))
    assert [entry.sequence for entry in await everything(log)] == [1, 2, 3, 4]


async def test_an_answer_that_may_be_stored_is_not_ended_as_failed(log, store, monkeypatch):
    monkeypatch.setattr("utils.a2a_common.tasks.backlog.FIRST_PAUSE", 0.001)
    writer = await started(log)
    await writer.append(chunk("a", append=False))
    await writer.flushed()
    store.unanswered = store.blind = True
    ending = asyncio.create_task(writer.append(status(COMPLETED)))
    while not store.writes or len(store.writes[-1].records) != 1 or store.writes[-1].row is None:
        await asyncio.sleep(0)
    store.blind = False
    assert await ending
    assert await state_of(log) == COMPLETED


async def test_a_task_that_cannot_be_stored_at_all_is_an_error_for_who_waits(log, store):
    writer = await log.claim("t", "ann")
    store.failing.add("*")
    reading = asyncio.create_task(everything(log))
    with pytest.raises(StorageError):
        await writer.append(task())
    with pytest.raises(StorageError):
        await reading
    writer.release()
    store.failing.clear()
    assert await log.head("t", "ann") is None
    again = await log.claim("t", "ann")
    assert await again.append(task())


@pytest.mark.parametrize("asks", ["head", "snapshot", "list", "read"])
async def test_a_task_whose_first_write_was_stored_unheard_is_read_with_its_end(log, store, asks):
    writer = await log.claim("t", "ann")
    store.unanswered = store.blind = True
    with pytest.raises(StorageError):
        await writer.append(task())
    writer.release()
    store.unanswered = store.blind = False
    store.failing.add("*")
    if asks == "list":
        assert [each.status.state for each in (await log.page(ListTasksRequest(), "ann")).tasks] == [FAILED]
    elif asks == "read":
        last = (await everything(log))[-1].event
        assert isinstance(last, TaskStatusUpdateEvent)
        assert last.status.state == FAILED
    elif asks == "snapshot":
        assert (await log.snapshot("t", "ann")).task.status.state == FAILED
    assert await state_of(log) == FAILED
    store.failing.clear()
    await log.claim("t", "ann")
    assert await state_of(TaskLog(store)) == FAILED


async def test_a_cancel_that_cannot_be_stored_stands(log, store):
    writer = await started(log)
    store.failing.add("*")
    assert await writer.append(status(CANCELED))
    assert await state_of(log) == CANCELED
    store.failing.clear()
    writer.release()
    await log.claim("t", "ann")
    assert await state_of(TaskLog(store)) == CANCELED


async def test_a_suspended_turn_ends_its_streams_without_an_end_and_goes_on_later(log):
    writer = await started(log)
    await writer.append(chunk("a", append=False))
    seen: list[Entry] = []

    async def follow() -> None:
        async for entry in log.read("t", "ann", after=2):
            seen.append(entry)

    following = asyncio.create_task(follow())
    await asyncio.sleep(0)
    writer.suspend(status(WORKING, "come again"))
    with pytest.raises(Suspended):
        await following
    assert [entry.sequence for entry in seen] == [3, 3]
    with pytest.raises(Suspended):
        await writer.append(chunk("b"))
    writer.release()
    with pytest.raises(Suspended):
        await everything(log)
    resumed = await log.claim("t", "ann")
    await resumed.append(chunk("ab", append=False))
    await resumed.append(status(COMPLETED))
    assert await settled_text(log) == "ab"


async def test_a_follow_up_joins_the_history_once_after_the_question(log):
    writer = await started(log)
    await writer.append(status(ASKING, "which?"))
    writer.release()
    turn = await log.claim("t", "ann")
    assert not turn.settled
    await turn.add_message(said("that one", "m2"))
    await turn.add_message(said("that one", "m2"))
    await turn.append(status(WORKING))
    await turn.append(status(COMPLETED))
    snapshot = await log.snapshot("t", "ann")
    assert snapshot is not None
    assert [message.message_id for message in snapshot.task.history] == ["which?", "m2"]


async def test_a_turn_may_be_answered_by_one_message_and_leaves_no_task(log):
    writer = await log.claim("t", "ann")
    reading = asyncio.create_task(everything(log))
    assert await writer.append(said("hello"))
    assert not await writer.append(said("again"))
    assert [entry.event for entry in await reading] == [said("hello")]
    assert await log.head("t", "ann") is None


@pytest.mark.parametrize(
    "event",
    [status(WORKING), chunk("a"), task("other"), chunk("a", append=False)],
    ids=lambda e: type(e).__name__,
)
async def test_what_breaks_the_protocol_is_an_error_and_no_part_of_the_log(log, event):
    writer = await log.claim("t", "ann")
    with pytest.raises(ProtocolViolation):
        await writer.append(event)
    assert await writer.append(task())


async def test_a_reader_with_nothing_left_waits_for_a_turn_and_for_nothing_else(log):
    writer = await started(log)
    await writer.append(status(ASKING, "which?"))
    assert await everything(log, after=3) == []
    writer.release()
    assert await everything(log, after=3) == []
    turn = await log.claim("t", "ann")
    reading = asyncio.create_task(everything(log, after=3))
    await asyncio.sleep(0)
    await turn.append(status(COMPLETED))
    assert [entry.settles for entry in await reading] == [True]


async def test_a_run_goes_on_after_it_asked_for_credentials(log):
    writer = await started(log)
    reading = asyncio.create_task(everything(log))
    await writer.append(status(AUTH, "log in"))
    assert writer.settled
    assert [entry.sequence for entry in await reading] == [1, 2, 3]
    assert await writer.append(chunk("a", append=False))
    assert await writer.append(status(WORKING))
    assert not writer.settled
    assert await writer.append(status(COMPLETED))
    assert await settled_text(log) == "a"


async def test_nobody_else_reads_a_task(log):
    await started(log)
    assert await log.head("t", "bob") is None
    assert await log.snapshot("t", "bob") is None
    with pytest.raises(TaskNotFoundError):
        await anext(log.read("t", "bob"))
    with pytest.raises(TaskNotFoundError):
        await log.claim("t", "bob")


async def test_open_streams_are_counted_and_memory_is_given_back(log):
    writer = await started(log)
    async with (
        aclosing(log.read("t", "ann", stream=True)) as entries,
        aclosing(log.read("t", "ann")) as cursor,
    ):
        await anext(entries)
        await anext(cursor)
        assert log.readers("t", "ann") == 1
        assert log.readers("t", "bob") == 0
    assert log.readers("t", "ann") == 0
    await writer.append(status(COMPLETED))
    await writer.flushed()
    writer.release()
    assert not log._lives


async def test_a_run_that_is_over_adds_nothing_to_a_task_that_waits_for_credentials(log):
    writer = await started(log)
    await writer.append(status(AUTH, "log in"))
    writer.release()
    assert not await writer.append(status(WORKING))
    assert not await writer.append(chunk("late", append=False))
    assert await state_of(log) == AUTH
    following = await log.claim("t", "ann")
    assert await following.append(status(COMPLETED))
    assert await state_of(log) == COMPLETED

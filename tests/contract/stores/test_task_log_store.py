"""What every store of task logs keeps: attempts, sequence numbers, one terminal status, owners, pages."""

import time
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest
from a2a.types.a2a_pb2 import ListTasksRequest, TaskState
from cryptography.fernet import Fernet

from tests.postgres import ENCRYPTED, PARAMETER
from utils.a2a_common.tasks.pages import page_request
from utils.encryption.codec import Codec
from utils.persistence.encrypted.task_log import EncryptedTaskLog
from utils.persistence.postgres.task_log import PostgresTaskLogStore
from utils.persistence.sqlite_file import MemoryFolder
from utils.persistence.task_log_memory import MemoryTaskLogStore
from utils.persistence.task_log_sqlite import SqliteTaskLogStore
from utils.persistence.task_log_store import (
    BATCH_BYTES,
    CONTENT,
    LEFT_OUT,
    IdleContext,
    Query,
    Record,
    RecordKind,
    Refusal,
    Row,
    TaskLogStore,
    Write,
    WriteRefused,
)

WORKING, COMPLETED = TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED


@pytest.fixture(params=["memory", "sqlite", "sqlite-encrypted", "sqlite-in-memory", PARAMETER, ENCRYPTED])
async def store(request, tmp_path):
    async with AsyncExitStack() as stack:
        made = await _made(request, tmp_path, stack)
        if "encrypted" in request.param:
            made = EncryptedTaskLog(made, Codec([Fernet.generate_key().decode()]))
        await made.open()
        yield made
        await made.close()


async def _made(request, folder, stack: AsyncExitStack) -> TaskLogStore:
    if "postgresql" in request.param:
        return PostgresTaskLogStore(
            await stack.enter_async_context(request.getfixturevalue("postgres").opened())
        )
    if request.param == "sqlite-in-memory":
        memory = MemoryFolder()
        stack.callback(memory.close)
        return SqliteTaskLogStore(memory / "t.sqlite")
    return MemoryTaskLogStore() if request.param == "memory" else SqliteTaskLogStore(folder / "t.sqlite")


def row(
    sequence: int = 1, state: int = WORKING, task_id: str = "t", owner: str = "ann", updated: int = 1
) -> Row:
    return Row(task_id, owner, "c", state, updated, f"head {sequence}".encode(), sequence)


def record(sequence: int, kind: RecordKind = RecordKind.CHUNK, body: bytes = b"x") -> Record:
    return Record(sequence, kind, body)


async def write(store: TaskLogStore, attempt: int, after: int | None, *records: Record, **fields) -> None:
    await store.append(Write(fields.pop("task_id", "t"), "ann", attempt, after, records, **fields))


async def refused(
    store: TaskLogStore, attempt: int, after: int | None, *records: Record, **fields
) -> Refusal:
    with pytest.raises(WriteRefused) as caught:
        await write(store, attempt, after, *records, **fields)
    return caught.value.refusal


async def a_task(store: TaskLogStore, task_id: str = "t", **fields) -> int:
    attempt = (await store.claim(task_id, "ann")).attempt
    head = row(task_id=task_id, **fields)
    await write(store, attempt, 0, record(1, RecordKind.TASK), row=head, task_id=task_id)
    return attempt


async def test_a_task_is_found_as_it_was_written(store):
    attempt = await a_task(store)
    await write(store, attempt, 1, record(2, RecordKind.STATUS), record(3), record(4, RecordKind.ARTIFACT))
    found = await store.look("t", "ann")
    assert found is not None
    assert (found.attempt, found.last, found.row) == (attempt, 4, row())
    assert [change.sequence for change in found.changes] == [2, 4]


async def test_a_claim_of_nothing_is_remembered(store):
    assert await store.look("t", "ann") is None
    claimed = await store.claim("t", "ann")
    assert (claimed.attempt, claimed.last, claimed.row) == (1, 0, None)
    assert await store.look("t", "ann") == claimed


async def test_each_claim_is_a_later_attempt_and_fences_off_the_one_before(store):
    first = await a_task(store)
    second = (await store.claim("t", "ann")).attempt
    assert second > first
    assert await refused(store, first, 1, record(2)) == Refusal.ATTEMPT
    assert await refused(store, first, None, record(2), row=row(2)) == Refusal.ATTEMPT
    await write(store, second, 1, record(2))


async def test_nobody_writes_who_has_not_claimed(store):
    assert await refused(store, 1, 0, record(1, RecordKind.TASK), row=row()) == Refusal.ATTEMPT


async def test_nothing_follows_a_terminal_status_not_even_another_end(store):
    attempt = await a_task(store)
    await write(store, attempt, 1, record(2, RecordKind.STATUS), row=row(2, COMPLETED))
    assert await refused(store, attempt, 2, record(3)) == Refusal.ENDED
    assert await refused(store, attempt, None, record(3), row=row(3)) == Refusal.ENDED
    later = (await store.claim("t", "ann")).attempt
    assert await refused(store, later, 2, record(3)) == Refusal.ENDED


async def test_a_write_that_follows_another_event_than_the_last_is_refused(store):
    attempt = await a_task(store)
    assert await refused(store, attempt, 2, record(3)) == Refusal.GAP
    assert await refused(store, attempt, 0, record(1)) == Refusal.GAP


async def test_an_end_may_leave_a_gap_but_needs_a_task(store):
    attempt = (await store.claim("t", "ann")).attempt
    assert await refused(store, attempt, None, record(7, RecordKind.STATUS), row=row(7)) == Refusal.MISSING
    await write(store, attempt, 0, record(1, RecordKind.TASK), row=row())
    await write(store, attempt, None, record(7, RecordKind.STATUS), row=row(7, COMPLETED))
    found = await store.look("t", "ann")
    assert found is not None
    assert found.last == 7
    assert found.row == row(7, COMPLETED)


async def test_a_row_alone_replaces_the_row(store):
    attempt = await a_task(store)
    await write(store, attempt, 1, row=row(1, updated=9))
    found = await store.look("t", "ann")
    assert found is not None
    assert found.row == row(1, updated=9)


async def test_another_owner_neither_sees_nor_claims_nor_deletes(store):
    await a_task(store)
    assert await store.look("t", "bob") is None
    with pytest.raises(WriteRefused) as caught:
        await store.claim("t", "bob")
    assert caught.value.refusal == Refusal.OWNER
    await store.delete("t", "bob")
    assert await store.look("t", "ann") is not None
    assert await store.page(Query("bob")) == ([], 0)


async def test_a_deleted_task_is_gone_with_its_events(store):
    await a_task(store)
    await store.delete("t", "ann")
    assert await store.look("t", "ann") is None
    assert await store.events("t", after=0, limit=9) == []
    assert (await store.claim("t", "ann")).last == 0


async def test_an_attempt_is_fenced_off_even_from_a_task_that_was_deleted_and_began_again(store):
    stalled = await a_task(store)
    await store.delete("t", "ann")
    await a_task(store)
    assert await refused(store, stalled, 1, record(2)) == Refusal.ATTEMPT


async def test_an_answer_without_a_task_is_forgotten_by_the_next_claim(store):
    attempt = (await store.claim("t", "ann")).attempt
    await write(store, attempt, 0, record(1, RecordKind.MESSAGE))
    assert [each.kind for each in await store.events("t", after=0, limit=9)] == [RecordKind.MESSAGE]
    assert (await store.claim("t", "ann")).last == 0
    assert await store.events("t", after=0, limit=9) == []


async def test_events_are_read_in_order_in_batches_and_by_kind(store):
    attempt = await a_task(store)
    for sequence in range(2, 12):
        kind = RecordKind.STATUS if sequence % 2 else RecordKind.CHUNK
        await write(store, attempt, sequence - 1, record(sequence, kind, b"%d" % sequence))
    assert [each.sequence for each in await store.events("t", after=3, limit=4)] == [4, 5, 6, 7]
    content = await store.events("t", after=0, limit=99, kinds=CONTENT)
    assert [each.sequence for each in content] == [1, 2, 4, 6, 8, 10]
    assert await store.events("t", after=11, limit=9) == []


async def test_a_batch_of_large_events_ends_early_but_is_never_empty(store):
    attempt = await a_task(store)
    large = bytes(2 * BATCH_BYTES)
    await write(store, attempt, 1, record(2, body=large), record(3, body=large))
    assert [each.sequence for each in await store.events("t", after=1, limit=9)] == [2]


async def test_pages_of_equal_times_miss_and_repeat_nothing(store):
    for index in range(25):
        await a_task(store, f"t{index:02}", updated=index // 10)
    seen: list[str] = []
    after = None
    while True:
        rows, total = await store.page(Query("ann", after=after, limit=4))
        assert total == 25
        if not rows:
            break
        seen += [each.id for each in rows]
        after = (rows[-1].updated, rows[-1].id)
    assert seen == [f"t{index:02}" for index in reversed(range(25))]


async def test_a_page_of_large_tasks_names_them_all_and_holds_little_of_them(store):
    half = BATCH_BYTES // 2
    for index in range(12):
        attempt = await store.claim(f"t{index:02}", "ann")
        head = replace(row(task_id=f"t{index:02}", updated=index), body=bytes([index]) * half)
        first = record(1, RecordKind.TASK)
        await store.append(Write(head.id, "ann", attempt.attempt, 0, (first,), head))
    rows, total = await store.page(Query("ann", limit=10))
    assert [each.id for each in rows] == [f"t{index:02}" for index in reversed(range(2, 12))]
    assert total == 12
    read = [each for each in rows if each.body != LEFT_OUT]
    assert [each.id for each in read] == [each.id for each in rows[: len(read)]]
    assert {each.body for each in read} == {bytes([11 - place]) * half for place in range(len(read))}
    assert 1 <= len(read) <= 3
    one = await store.look(rows[-1].id, "ann")
    assert one is not None
    assert one.row is not None
    assert one.row.body == bytes([2]) * half


async def test_a_task_larger_than_what_a_page_holds_is_read_where_it_is_the_first(store):
    attempt = await store.claim("t", "ann")
    head = replace(row(), body=bytes(3 * BATCH_BYTES))
    await store.append(Write("t", "ann", attempt.attempt, 0, (record(1, RecordKind.TASK),), head))
    ((found,), _) = await store.page(Query("ann"))
    assert found == head


async def test_a_page_is_filtered_by_context_state_and_time(store):
    await a_task(store, "old", updated=1)
    await a_task(store, "done", updated=5, state=COMPLETED)
    await a_task(store, "new", updated=9)
    assert [each.id for each in (await store.page(Query("ann", updated_from=5)))[0]] == ["new", "done"]
    assert [each.id for each in (await store.page(Query("ann", state=WORKING)))[0]] == ["new", "old"]
    assert (await store.page(Query("ann", context_id="other")))[1] == 0


@pytest.mark.parametrize(
    ("since", "found"),
    [
        ("0001-01-01T00:00:00Z", ["new", "old"]),
        ("1969-12-31T23:59:59.999Z", ["new", "old"]),
        ("2262-04-12T00:00:00Z", []),
        ("9999-12-31T23:59:59.999999999Z", []),
        (-(10**15), ["new", "old"]),  # over gRPC, where a time is a number of seconds
        (10**15, []),
    ],
)
async def test_a_time_that_no_store_holds_is_before_or_after_all_tasks(store, since, found):
    await a_task(store, "old", updated=1)
    await a_task(store, "new", updated=9)
    asked = ListTasksRequest()
    if isinstance(since, int):
        asked.status_timestamp_after.seconds = since
    else:
        asked.status_timestamp_after.FromJsonString(since)
    rows, total = await store.page(page_request(asked, "ann"))
    assert [each.id for each in rows] == found
    assert total == len(found)


async def test_tasks_in_some_states_are_found_for_every_owner(store):
    await a_task(store, "works")
    await a_task(store, "done", state=COMPLETED)
    assert [each.id for each in await store.unfinished([WORKING])] == ["works"]


async def test_conversations_that_nobody_went_on_with_are_found_with_all_their_tasks(store):
    for task_id, context_id, updated in (
        ("a", "old", 1),
        ("b", "old", 4),
        ("c", "new", 2),
        ("d", "new", 9),
        ("e", "older", 3),
    ):
        attempt = (await store.claim(task_id, "ann")).attempt
        head = Row(task_id, "ann", context_id, COMPLETED, updated, b"", 1)
        await write(store, attempt, 0, record(1, RecordKind.TASK), row=head, task_id=task_id)
    found = await store.idle(5, 10)
    assert found == [IdleContext("ann", "older", ("e",), 3), IdleContext("ann", "old", ("a", "b"), 4)]
    assert await store.idle(5, 1) == found[:1]
    assert await store.idle(1, 10) == []
    assert await store.count_contexts() == 3


async def test_a_conversation_of_which_a_task_works_or_waits_for_its_user_is_not_among_the_ended_ones(store):
    asks = TaskState.TASK_STATE_INPUT_REQUIRED
    for task_id, context_id, state in (
        ("a", "works", COMPLETED),
        ("b", "works", WORKING),
        ("c", "asks", asks),
        ("d", "ended", COMPLETED),
        ("e", "ended", TaskState.TASK_STATE_FAILED),
    ):
        attempt = (await store.claim(task_id, "ann")).attempt
        head = Row(task_id, "ann", context_id, state, 1, b"", 1)
        await write(store, attempt, 0, record(1, RecordKind.TASK), row=head, task_id=task_id)
    assert await store.idle(5, 10, ended=True) == [IdleContext("ann", "ended", ("d", "e"), 1)]
    assert len(await store.idle(5, 10)) == 3


async def test_the_newest_change_is_told_and_the_time_where_several_processes_share_a_clock(store, request):
    assert (await store.times()).newest == 0
    for task_id, updated in (("a", 7), ("b", 4)):
        attempt = (await store.claim(task_id, "ann")).attempt
        head = Row(task_id, "ann", "c", COMPLETED, updated, b"", 1)
        await write(store, attempt, 0, record(1, RecordKind.TASK), row=head, task_id=task_id)
    times = await store.times()
    assert times.newest == 7
    if times.now is not None:
        assert abs(times.now - time.time_ns()) < 60e9
    assert (times.now is not None) == ("postgresql" in request.node.callspec.id)

"""Pages of tasks that are large: each ends in time, and no task is missed or repeated."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from a2a.types.a2a_pb2 import ListTasksRequest, ListTasksResponse

from tests.unit.tasks.events import COMPLETED, chunk, said, status, task
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.pages import PAGE_BYTES
from utils.persistence.task_log_memory import MemoryTaskLogStore
from utils.persistence.task_log_sqlite import SqliteTaskLogStore

THIRD = PAGE_BYTES // 3 - 10_000


@pytest.fixture(params=["memory", "sqlite"])
async def log(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[TaskLog]:
    store = MemoryTaskLogStore() if request.param == "memory" else SqliteTaskLogStore(tmp_path / "t.sqlite")
    made = TaskLog(store)
    await made.open()
    yield made
    await made.close()


async def ended(log: TaskLog, task_id: str, *, history: int = 0, artifact: int = 0) -> None:
    """A task that ended, with a message and an artifact of so many bytes."""
    writer = await log.claim(task_id, "ann")
    begun = task(task_id)
    begun.history.append(said("h" * history, "first"))
    begun.history.append(said("go on", "second"))
    await writer.append(begun)
    if artifact:
        await writer.append(chunk("a" * artifact, append=False, task_id=task_id))
    await writer.append(status(COMPLETED, task_id=task_id))
    writer.release()


async def pages(log: TaskLog, asked: ListTasksRequest) -> list[ListTasksResponse]:
    found: list[ListTasksResponse] = []
    while not found or asked.page_token:
        found.append(await log.page(asked, "ann"))
        asked.page_token = found[-1].next_page_token
    return found


@pytest.mark.parametrize(
    ("sizes", "asked"),
    [
        ({"history": THIRD}, ListTasksRequest(page_size=5)),
        ({"artifact": THIRD}, ListTasksRequest(page_size=5, include_artifacts=True)),
    ],
)
async def test_a_page_of_large_tasks_ends_before_its_limit_and_the_next_goes_on(log, sizes, asked):
    ids = [f"t{number}" for number in range(7)]
    for task_id in ids:
        await ended(log, task_id, **sizes)
    found = await pages(log, asked)
    assert [len(page.tasks) for page in found] == [3, 3, 1]
    assert all(page.ByteSize() <= PAGE_BYTES + 1000 for page in found)
    assert sorted(each.id for page in found for each in page.tasks) == ids
    assert {page.total_size for page in found} == {7}
    told = next(iter(sizes))
    whole = [
        each.history[0].parts[0] if told == "history" else each.artifacts[0].parts[0]
        for each in found[0].tasks
    ]
    assert {len(part.text) for part in whole} == {THIRD}


async def test_a_task_that_is_larger_than_a_page_has_one_of_its_own(log):
    for task_id, artifact in (("a", 10), ("b", 2 * PAGE_BYTES), ("c", 10), ("d", 2 * PAGE_BYTES)):
        await ended(log, task_id, artifact=artifact)
    found = await pages(log, ListTasksRequest(include_artifacts=True))
    assert sorted(len(page.tasks) for page in found) == [1, 1, 1, 1]
    assert sorted(each.id for page in found for each in page.tasks) == ["a", "b", "c", "d"]


async def test_only_what_is_told_of_a_task_counts(log):
    for number in range(7):
        await ended(log, f"t{number}", history=THIRD, artifact=THIRD)
    (page,) = await pages(log, ListTasksRequest(page_size=7, history_length=1))
    assert [[each.message_id for each in listed.history] for listed in page.tasks] == [["second"]] * 7


async def test_a_task_that_is_deleted_while_a_page_is_filled_is_left_out_of_it(log):
    for number in range(4):
        await ended(log, f"t{number}", history=THIRD)
    listed = [each async for each in _deleting(log)]
    assert len(listed) == 2


async def _deleting(log: TaskLog) -> AsyncIterator[str]:
    async for each in log.newest("c", "ann", 4):
        yield each.id
        for number in range(2):
            await log.delete(f"t{number}", "ann")

"""A real SQLite file that is locked, full or damaged while tasks are worked on.

No piece is missing from an answer that is completed, no task is left working, and each that failed says so with a code
and a sentence.
"""

import asyncio
import sqlite3
from contextlib import closing, contextmanager

import pytest
from a2a.types.a2a_pb2 import ListTasksRequest, Task
from google.protobuf.json_format import MessageToDict

from tests.unit.tasks.events import COMPLETED, FAILED, WORKING, chunk, status, task
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.a2a_common.tasks.log import TaskLog, TaskWriter
from utils.errors import StorageError, StorageFull
from utils.persistence import database
from utils.persistence.task_log_sqlite import SqliteTaskLogStore
from utils.persistence.unreadable import UNREADABLE

TASKS = [f"t{number}" for number in range(8)]
PIECES = 26
WHOLE = "".join(f"{number} " for number in range(PIECES))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tasks.sqlite"


@pytest.fixture
async def log(path):
    made = TaskLog(SqliteTaskLogStore(path))
    await made.open()
    yield made
    await made.close()


@contextmanager
def locked(path):
    """Hold the write lock of the file, as another process would."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=20)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


class Answer:
    """A turn that answers in pieces: half of them, and after `goes_on` the others."""

    def __init__(self, log: TaskLog, task_id: str, piece: str = "") -> None:
        self._log = log
        self._id = task_id
        self._piece = piece
        self.half, self.goes_on = asyncio.Event(), asyncio.Event()
        self.written = asyncio.Event()

    async def run(self) -> None:
        writer = await self._log.claim(self._id, "ann")
        try:
            await self._write(writer)
        except StorageError:
            assert writer.reason == "storage"
        finally:
            self.written.set()
            writer.release()

    async def _write(self, writer: TaskWriter) -> None:
        await writer.append(task(self._id))
        await writer.append(status(WORKING, task_id=self._id))
        for number in range(PIECES):
            if number == PIECES // 2:
                await writer.flushed()
                self.half.set()
                await self.goes_on.wait()
            await writer.append(chunk(f"{number} {self._piece}", append=number > 0, task_id=self._id))
        self.written.set()
        await writer.append(status(COMPLETED, task_id=self._id))


async def check(log: TaskLog, task_id: str, whole: str = WHOLE) -> int:
    """The state of a task that ended, as it should be."""
    snapshot = await log.snapshot(task_id, "ann")
    assert snapshot is not None
    state = snapshot.task.status.state
    if state == COMPLETED:
        assert snapshot.task.artifacts[0].parts[0].text == whole
    else:
        assert state == FAILED
        assert MessageToDict(snapshot.task.metadata)[ERROR_EXTENSION]["code"] in (
            StorageError.code,
            StorageFull.code,
        )
        assert "stored" in snapshot.task.status.message.parts[0].text
    return state


class Answers:
    """An answer for each task, which is half written."""

    def __init__(self, log: TaskLog, *, piece: str = "") -> None:
        self.turns = [Answer(log, task_id, piece) for task_id in TASKS]

    async def begin(self) -> "Answers":
        self.runs = [asyncio.create_task(turn.run()) for turn in self.turns]
        for turn in self.turns:
            await turn.half.wait()
        return self

    def go_on(self) -> None:
        for turn in self.turns:
            turn.goes_on.set()

    async def written(self) -> None:
        for turn in self.turns:
            await turn.written.wait()

    async def over(self) -> None:
        await asyncio.gather(*self.runs)


async def check_stored(path, log: TaskLog) -> None:
    """What the file says when all ends are stored is what the log said before."""
    before = [await check(log, task_id) for task_id in TASKS]
    for task_id in TASKS:
        (await log.claim(task_id, "ann")).release()  # waits for the end
    assert not await log.unfinished()
    other = TaskLog(SqliteTaskLogStore(path))
    await other.open()
    assert [await check(other, task_id) for task_id in TASKS] == before
    await other.close()


async def test_a_lock_shorter_than_the_writers_patience_costs_nothing_and_readers_do_not_wait(log, path):
    answers = await Answers(log).begin()
    with locked(path):
        answers.go_on()
        await answers.written()
        for task_id in TASKS:
            snapshot = await log.snapshot(task_id, "ann")
            assert snapshot is not None
            assert snapshot.task.artifacts[0].parts[0].text == WHOLE
            assert snapshot.task.status.state == WORKING
    await answers.over()
    assert {await check(log, task_id) for task_id in TASKS} == {COMPLETED}
    await check_stored(path, log)


async def test_a_lock_longer_than_that_fails_each_task_with_a_sentence_and_their_ends_are_stored_later(
    log, path, monkeypatch
):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.2)
    answers = await Answers(log).begin()
    with locked(path):
        answers.go_on()
        await answers.over()
        assert {await check(log, task_id) for task_id in TASKS} == {FAILED}
        page = await log.page(ListTasksRequest(), "ann")
        assert {shown.status.state for shown in page.tasks} == {FAILED}
        with pytest.raises(StorageError):
            await log.claim("t0", "ann")
    await check_stored(path, log)


async def test_a_full_file_fails_what_it_cannot_take_and_takes_it_again_when_it_is_freed(
    log, path, monkeypatch
):
    answers = await Answers(log, piece="x" * 4000).begin()
    with closing(sqlite3.connect(path, isolation_level=None, timeout=20)) as other:
        pages = other.execute("PRAGMA page_count").fetchone()[0]
        await log._store._database.write(lambda db: db.execute(f"PRAGMA max_page_count={pages + 60}"))
        answers.go_on()
        await answers.over()
    whole = "".join(f"{number} {'x' * 4000}" for number in range(PIECES))
    states = [await check(log, task_id, whole) for task_id in TASKS]
    assert FAILED in states
    for task_id, state in zip(TASKS, states, strict=True):
        ended = await log.snapshot(task_id, "ann")
        assert (state == FAILED) == ("The disk is full" in str(ended.task.status.message))
    await log._store._database.write(lambda db: db.execute("PRAGMA max_page_count=100000"))
    for task_id in TASKS:
        (await log.claim(task_id, "ann")).release()
    assert not await log.unfinished()
    assert [await check(log, task_id, whole) for task_id in TASKS] == states
    again = Answer(log, "again")
    again.goes_on.set()
    await again.run()
    assert await check(log, "again") == COMPLETED


async def test_a_file_that_is_moved_fails_each_task_with_a_sentence_and_their_ends_are_stored_once_it_is_back(
    log, path
):
    answers = await Answers(log).begin()
    away = path.rename(path.with_name("away"))
    answers.go_on()
    await answers.over()
    for task_id in TASKS:
        assert await check(log, task_id) == FAILED
        ended = await log.snapshot(task_id, "ann")
        assert "was deleted or moved while it runs" in str(ended.task.status.message)
    away.rename(path)
    await check_stored(path, log)


def damage(path, *numbers: int) -> None:
    """Overwrite pages of the file."""
    assert numbers
    with path.open("r+b") as file:
        for number in numbers:
            file.seek((number - 1) * 4096)
            file.write(b"\xff" * 4096)


def pages_of(path, mark: str) -> set[int]:
    """Pages that hold something and lead to no other page."""
    content = path.read_bytes()
    return {
        at // 4096 + 1
        for at in range(0, len(content), 4096)
        if content[at] == 0x0A and mark.encode() in content[at : at + 4096]
    }


async def test_two_damaged_pages_cost_the_task_that_they_held_and_no_other(path):
    log = TaskLog(SqliteTaskLogStore(path))
    await log.open()
    pieces = {task_id: [f" {number} of {task_id} {'x' * 300} " for number in range(60)] for task_id in TASKS}
    for task_id in TASKS:
        writer = await log.claim(task_id, "ann")
        await writer.append(task(task_id))
        for number, piece in enumerate(pieces[task_id]):
            await writer.append(chunk(piece, append=number > 0, task_id=task_id))
        await writer.append(status(COMPLETED, task_id=task_id))
        writer.release()
    await log.close()
    edges = pages_of(path, " 0 of t3 ") | pages_of(path, "59 of t3")
    damage(path, *sorted(pages_of(path, "of t3") - edges)[:2])
    log = TaskLog(SqliteTaskLogStore(path))
    await log.open()
    for task_id in set(TASKS) - {"t3"}:
        assert await check(log, task_id, "".join(pieces[task_id])) == COMPLETED
    with pytest.raises(StorageError):
        await log.snapshot("t3", "ann")
    with pytest.raises(StorageError):
        async for _ in log.read("t3", "ann"):
            pass
    page = await log.page(ListTasksRequest(), "ann")
    assert {shown.status.state for shown in page.tasks} == {COMPLETED}
    page = await log.page(ListTasksRequest(include_artifacts=True), "ann")
    told = {
        shown.id: "".join(part.text for each in shown.artifacts for part in each.parts)
        for shown in page.tasks
    }
    assert told == {task_id: "".join(pieces[task_id]) for task_id in TASKS} | {"t3": ""}
    again = Answer(log, "t9")
    again.goes_on.set()
    await again.run()
    assert await check(log, "t9") == COMPLETED
    await log.close()


@pytest.mark.parametrize(
    "asked",
    [
        ListTasksRequest(),
        ListTasksRequest(context_id="c"),
        ListTasksRequest(status=COMPLETED),
        ListTasksRequest(context_id="c", status=COMPLETED),
        ListTasksRequest(include_artifacts=True),
    ],
)
async def test_a_damaged_page_of_tasks_costs_a_list_those_that_stood_on_it_alone(path, asked):
    log = TaskLog(SqliteTaskLogStore(path))
    await log.open()
    known = [f"t{number:02}" for number in range(40)]
    for task_id in known:
        writer = await log.claim(task_id, "ann")
        begun = task(task_id)
        begun.metadata["room"] = "x" * 300
        await writer.append(begun)
        await writer.append(status(COMPLETED, task_id=task_id))
        writer.release()
    await log.close()
    rows = set().union(*(pages_of(path, f"{task_id}annc") for task_id in known))
    damage(path, sorted(rows)[1])
    log = TaskLog(SqliteTaskLogStore(path))
    await log.open()
    asked.page_size = 7
    listed: list[Task] = []
    while not listed or asked.page_token:
        page = await log.page(asked, "ann")
        listed += page.tasks
        asked.page_token = page.next_page_token
        assert page.total_size == len(known)
    assert sorted(shown.id for shown in listed) == known
    whole = [shown for shown in listed if "room" in shown.metadata]
    lost = [shown for shown in listed if UNREADABLE in str(shown.status.message)]
    assert len(whole) + len(lost) == len(known)
    assert 0 < len(lost) < len(whole)
    assert {shown.status.state for shown in listed} == {COMPLETED}
    assert not await log.unfinished()
    await log.close()

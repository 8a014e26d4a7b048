"""A file of the version before: its tasks are found, and its conversations go on.

`tasks_version_1.sql` was written by that version's own code: a task that completed, one that asks, one that was cut off,
and one whose row cannot be read.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from a2a.types.a2a_pb2 import ListTasksRequest, TaskState
from a2a.utils.errors import UnsupportedOperationError

from tests.unit.tasks.events import COMPLETED, WORKING, chunk, said, status
from utils.a2a_common.tasks.log import TaskLog
from utils.errors import StorageError
from utils.persistence.task_log_sqlite import SqliteTaskLogStore

OWNER = '["", "ann"]'


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "tasks.sqlite"
    with closing(sqlite3.connect(made)) as db:
        db.executescript((Path(__file__).parent / "tasks_version_1.sql").read_text())
    return made


@pytest.fixture
async def log(path):
    made = TaskLog(SqliteTaskLogStore(path))
    await made.open()
    yield made
    await made.close()


async def test_a_task_is_found_with_its_artifacts_and_its_history(log):
    snapshot = await log.snapshot("completed", OWNER)
    assert snapshot is not None
    plan, response = snapshot.task.artifacts
    assert [value.string_value for value in plan.parts[0].data.struct_value["steps"].values] == ["one", "two"]
    assert response.parts[0].text == "Sixty pull requests."
    assert snapshot.task.status.state == COMPLETED
    assert [message.message_id for message in snapshot.task.history] == ["u1"]
    assert await log.snapshot("completed", "bob") is None


async def test_its_chunks_are_read_as_events(log):
    entries = [entry async for entry in log.read("completed", OWNER)]
    assert [entry.sequence for entry in entries] == [1, 2, 3, 4]
    assert (
        "".join(part.text for entry in entries for part in entry.event.artifact.parts)
        == "Sixty pull requests."
    )


async def test_a_task_that_asks_takes_its_answer(log):
    writer = await log.claim("asking", OWNER)
    await writer.add_message(said("yes", "u9"))
    await writer.append(status(WORKING, task_id="asking"))
    await writer.append(chunk(" Closed.", artifact="response", task_id="asking"))
    await writer.append(status(COMPLETED, task_id="asking"))
    snapshot = await log.snapshot("asking", OWNER)
    assert snapshot is not None
    assert snapshot.task.artifacts[0].parts[0].text == "I can close it. Closed."
    assert [message.message_id for message in snapshot.task.history] == ["u2", "Shal", "u9"]


async def test_a_task_that_was_cut_off_is_found_to_be_ended(log):
    assert await log.unfinished() == [("cut-off", OWNER)]


async def test_a_task_that_cannot_be_read_has_a_stand_in_in_the_list(log):
    page = await log.page(ListTasksRequest(), OWNER)
    assert [task.id for task in page.tasks] == ["unreadable", "cut-off", "asking", "completed"]
    assert page.tasks[0].status.state == TaskState.TASK_STATE_COMPLETED
    with pytest.raises(UnsupportedOperationError):
        await log.head("unreadable", OWNER)


async def test_a_file_is_brought_to_this_version_once(log, path):
    await log.close()
    again = TaskLog(SqliteTaskLogStore(path))
    await again.open()
    assert await again.snapshot("completed", OWNER) is not None
    await again.close()


async def test_where_that_fails_the_file_stays_as_it_was(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE VIEW task_events AS SELECT * FROM task_chunks")
        before = "\n".join(db.iterdump())
    with pytest.raises(StorageError):
        await SqliteTaskLogStore(path).open()
    with closing(sqlite3.connect(path)) as db:
        assert "\n".join(db.iterdump()) == before


async def test_the_file_of_a_later_version_is_refused_by_its_name(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(StorageError, match=r"tasks\.sqlite"):
        await SqliteTaskLogStore(path).open()

"""A list of tasks of which one was encrypted with a key that is gone: it has a stand-in, and the others are shown."""

from pathlib import Path

import pytest
from a2a.types.a2a_pb2 import ListTasksRequest, Task, TaskState
from cryptography.fernet import Fernet

from tests.unit.tasks.events import ASKING, COMPLETED, FAILED, WORKING, said, status, task
from utils.a2a_common.tasks.log import TaskLog
from utils.encryption.codec import Codec
from utils.persistence.encrypted.task_log import EncryptedTaskLog
from utils.persistence.task_log_sqlite import SqliteTaskLogStore
from utils.persistence.task_log_store import BATCH_BYTES
from utils.persistence.unreadable import UNREADABLE

GONE, HELD = Codec([Fernet.generate_key().decode()]), Codec([Fernet.generate_key().decode()])


async def stored(path: Path, codec: Codec, task_id: str, state: TaskState, *, history: int = 0) -> None:
    log = TaskLog(EncryptedTaskLog(SqliteTaskLogStore(path), codec))
    await log.open()
    writer = await log.claim(task_id, "ann")
    begun = task(task_id)
    begun.history.append(said("h" * history, "first"))
    await writer.append(begun)
    await writer.append(status(state, task_id=task_id))
    await log.close()


async def listed(path: Path, request: ListTasksRequest) -> list[Task]:
    log = TaskLog(EncryptedTaskLog(SqliteTaskLogStore(path), HELD))
    await log.open()
    found = list((await log.page(request, "ann")).tasks)
    await log.close()
    return found


@pytest.mark.parametrize("artifacts", [False, True])
@pytest.mark.parametrize(
    ("state", "shown"),
    [(COMPLETED, COMPLETED), (WORKING, FAILED), (ASKING, FAILED)],
    ids=["ended", "cut off", "asking"],
)
@pytest.mark.parametrize("behind", [10, 2 * BATCH_BYTES], ids=["a small task", "a large task"])
async def test_it_has_a_stand_in(
    tmp_path: Path, state: TaskState, shown: TaskState, behind: int, artifacts: bool
):
    path = tmp_path / "tasks.sqlite"
    await stored(path, GONE, "old", state)
    await stored(path, HELD, "new", COMPLETED, history=behind)
    new, old = await listed(path, ListTasksRequest(include_artifacts=artifacts))
    assert (new.id, len(new.history[0].parts[0].text)) == ("new", behind)
    assert (old.id, old.status.state, old.status.message.parts[0].text) == ("old", shown, UNREADABLE)

"""The task store below the wire: versions, owners, pages, and storage that fails."""

import sqlite3

import pytest
from a2a.server.cluster.task_store import ConcurrentTaskModificationError
from a2a.server.cluster.version import TaskVersion
from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import (
    Artifact,
    ListTasksRequest,
    Part,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
)
from a2a.utils.errors import InvalidParamsError

from utils.errors import StorageError
from utils.persistence import task_shelf_sqlite
from utils.persistence.tasks import ChunkedTaskStore, memory_task_store, sqlite_task_store

MISSING = TaskVersion.MISSING


def owner(context: ServerCallContext) -> str:
    return context.tenant


def caller(name: str = "") -> ServerCallContext:
    return ServerCallContext(tenant=name)


@pytest.fixture(params=["memory", "sqlite"])
async def store(request, tmp_path):
    made = (
        memory_task_store(owner) if request.param == "memory" else sqlite_task_store(tmp_path / "t.db", owner)
    )
    await made.open()
    yield made
    await made.close()


def task(name: str = "t", state: TaskState = TaskState.TASK_STATE_WORKING, seconds: int = 1) -> Task:
    made = Task(id=name, context_id="c", status=TaskStatus(state=state))
    made.status.timestamp.FromSeconds(seconds)
    return made


async def save(
    store: ChunkedTaskStore, saved: Task, version: TaskVersion = MISSING, who: str = "", event=None
):
    return await store.save(saved, event=event, prev=None, prev_version=version, context=caller(who))


def chunk(*parts: Part, append: bool = True) -> TaskArtifactUpdateEvent:
    return TaskArtifactUpdateEvent(
        task_id="t", context_id="c", artifact=Artifact(artifact_id="a", parts=parts), append=append
    )


async def stream(store: ChunkedTaskStore, *parts: Part) -> Task:
    """What the SDK's task manager does with each event."""
    live = task()
    version = await save(store, live)
    for index, part in enumerate(parts):
        event = chunk(part, append=index > 0)
        if index == 0:
            live.artifacts.append(event.artifact)
        else:
            live.artifacts[0].parts.extend(event.artifact.parts)
        version = await save(store, live, version, event=event)
    return live


async def test_a_stale_write_is_refused(store):
    first = await save(store, task())
    await save(store, task(), first)
    with pytest.raises(ConcurrentTaskModificationError):
        await save(store, task(), first)
    with pytest.raises(ConcurrentTaskModificationError):
        await save(store, task())


async def test_a_cancel_goes_over_any_version_of_a_task_that_works_and_over_none_that_ended(store):
    first = await save(store, task())
    await save(store, task(), first)
    await save(store, task(state=TaskState.TASK_STATE_CANCELED), first)
    with pytest.raises(ConcurrentTaskModificationError):
        await save(store, task(state=TaskState.TASK_STATE_CANCELED), first)


async def test_another_owner_neither_reads_nor_overwrites_nor_deletes(store):
    version = await save(store, task(), who="ann")
    assert await store.get("t", caller("bob")) is None
    with pytest.raises(ConcurrentTaskModificationError):
        await save(store, task(), version, who="bob")
    await store.delete("t", caller("bob"))
    assert await store.get("t", caller("ann")) is not None
    await store.delete("t", caller("ann"))
    assert await store.get("t", caller("ann")) is None


async def test_only_plain_text_is_joined_and_the_order_of_parts_is_kept(store):
    data = Part(media_type="application/json")
    data.data.struct_value["n"] = 1
    marked = Part(text="<b>", media_type="text/html")
    live = await stream(store, Part(text="a"), Part(text="b"), data, Part(text="c"), marked, Part(text="d"))
    whole, _ = await store.whole(live)
    assert list(whole.artifacts[0].parts) == [Part(text="ab"), data, Part(text="c"), marked, Part(text="d")]


async def test_the_live_task_gives_its_parts_to_the_store(store):
    live = await stream(store, *(Part(text="x" * 600) for _ in range(50)))
    assert len(live.artifacts[0].parts) == 0
    stored = await store.get("t", caller())
    assert stored is not None
    assert stored.task.ByteSize() < 200


async def test_pages_of_equal_times_miss_and_repeat_nothing(store):
    for index in range(25):
        await save(store, task(f"t{index:02}", seconds=index // 10))
    seen: list[str] = []
    token = ""
    while True:
        page = await store.list(ListTasksRequest(page_size=4, page_token=token), caller())
        assert page.total_size == 25
        seen += [entry.id for entry in page.tasks]
        token = page.next_page_token
        if not token:
            break
    assert seen == [f"t{index:02}" for index in reversed(range(25))]


@pytest.mark.parametrize(
    "token", ["junk", "eyJ0cyI6IC0xLCAiaWQiOiAieCJ9", "eyJ0cyI6OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTksImlkIjoieCJ9"]
)
async def test_a_page_token_that_is_not_ours_is_refused(store, token):
    with pytest.raises(InvalidParamsError):
        await store.list(ListTasksRequest(page_token=token), caller())


async def test_an_orphan_is_failed_and_a_waiting_task_is_not(store):
    await save(store, task("works"))
    await save(store, task("waits", TaskState.TASK_STATE_INPUT_REQUIRED))
    assert await store.end_orphans("It was cut off.") == 1
    works, waits = (await store.get("works", caller()), await store.get("waits", caller()))
    assert works is not None
    assert waits is not None
    assert works.task.status.state == TaskState.TASK_STATE_FAILED
    assert works.task.status.message.parts[0].text == "It was cut off."
    assert waits.task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED


async def test_a_chunk_that_could_not_be_written_fails_the_next_save(tmp_path, monkeypatch):
    store = sqlite_task_store(tmp_path / "t.db", owner)
    await store.open()
    live = await stream(store, Part(text="a"))

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(task_shelf_sqlite, "_insert", full)
    event = chunk(Part(text="b"))
    live.artifacts[0].parts.extend(event.artifact.parts)
    version = await save(store, live, event=event)
    await store.whole(live)
    with pytest.raises(StorageError) as failed:
        await save(store, live, version)
    assert "disk" not in str(failed.value)
    await store.close()

"""Chunks on the wire, and the whole that they make."""

import asyncio
from typing import Any

import pytest
from a2a.types.a2a_pb2 import TaskState

from tests.e2e.wire.agents import Stage, echo
from tests.e2e.wire.wiring import message, serving, state
from tests.support.task_logs import memory_log, sqlite_log
from utils.a2a_common.tasks.log import TaskLog
from utils.persistence.task_log_memory import MemoryTaskLogStore
from utils.persistence.task_log_store import Write


@pytest.fixture(params=["memory", "sqlite"])
def log(request, tmp_path) -> TaskLog:
    if request.param == "memory":
        return memory_log()
    return sqlite_log(tmp_path / "tasks.sqlite")


async def two_artifacts(stage: Stage) -> None:
    await stage.task()
    await stage.status(TaskState.TASK_STATE_WORKING)
    await stage.chunk("plan one", append=False, artifact="plan")
    for index in range(50):
        await stage.chunk(f"{index} ", append=index > 0, last=index == 49)
        if index == 25:
            await stage.chunk("plan two", append=False, artifact="plan")
    await stage.status(TaskState.TASK_STATE_COMPLETED)


def replay(events: list[dict[str, Any]]) -> dict[str, str]:
    """What a client that follows the rules of append has in the end."""
    pieces: dict[str, list[str]] = {}
    for event in events:
        if "task" in event:
            pieces = {a["artifactId"]: [texts(a)] for a in event["task"].get("artifacts", [])}
        if "artifactUpdate" in event:
            update = event["artifactUpdate"]
            name = update["artifact"]["artifactId"]
            if not update.get("append"):
                pieces[name] = []
            pieces[name].append(texts(update["artifact"]))
    return {name: "".join(each) for name, each in pieces.items()}


def texts(artifact: dict[str, Any]) -> str:
    return "".join(part["text"] for part in artifact.get("parts", []))


async def test_what_get_task_returns_is_what_was_streamed(log):
    async with serving(two_artifacts, log=log) as wire:
        streamed = await wire.stream()
        unary = await wire.send()
        stored = await wire.get(streamed[0]["task"]["id"])
        listed = (await wire.rpc("ListTasks", {"includeArtifacts": True}))["result"]["tasks"]
    expected = {"plan": "plan two", "response": "".join(f"{index} " for index in range(50))}
    assert replay(streamed) == expected
    for task in (unary, stored, *listed):
        assert {a["artifactId"]: texts(a) for a in task["artifacts"]} == expected
        assert [len(a["parts"]) for a in task["artifacts"]] == [1, 1]


async def test_chunks_begin_without_append_and_the_last_one_says_so(log):
    async with serving(two_artifacts, log=log) as wire:
        streamed = await wire.stream()
    updates = [event["artifactUpdate"] for event in streamed if "artifactUpdate" in event]
    response = [update for update in updates if update["artifact"]["artifactId"] == "response"]
    assert [update.get("append", False) for update in response] == [False] + [True] * 49
    assert [update.get("lastChunk", False) for update in response] == [False] * 49 + [True]


async def test_appending_to_an_unknown_artifact_fails_the_task():
    async def wrong(stage: Stage) -> None:
        await stage.task()
        await stage.chunk("x", append=True)

    async with serving(wrong) as wire, asyncio.timeout(60):
        answer = await wire.send()
        assert "error" in answer or state(answer) == "failed"


async def test_a_subscriber_gets_each_chunk_once_in_its_snapshot_or_after_it(log):
    """Subscribers join while chunks flow; each must end with the very same text."""
    joined = asyncio.Semaphore(0)
    total = 400

    async def flowing(stage: Stage) -> None:
        await stage.task()
        await stage.status(TaskState.TASK_STATE_WORKING)
        for index in range(total):
            await stage.chunk(f"{index},", append=index > 0)
            if index % 100 == 50:
                await joined.acquire()
        await stage.status(TaskState.TASK_STATE_COMPLETED)

    async with serving(flowing, log=log) as wire:
        task = await wire.start()

        async def follow() -> str:
            async with wire.events("SubscribeToTask", {"id": task["id"]}) as events:
                seen = [await anext(events)]
                joined.release()
                seen += [event async for event in events]
            assert ["task" in event for event in seen].count(True) == 1
            return replay(seen)["response"]

        async with asyncio.timeout(60):
            texts_seen = await asyncio.gather(*(follow() for _ in range(4)))
        assert texts_seen == ["".join(f"{index}," for index in range(total))] * 4


async def test_a_reader_that_falls_behind_gets_every_event():
    """It reads nothing until the task is over."""

    async def torrent(stage: Stage) -> None:
        await stage.task()
        await stage.status(TaskState.TASK_STATE_WORKING)
        for index in range(3000):
            await stage.chunk("x" * 8000, append=index > 0)
        await stage.status(TaskState.TASK_STATE_COMPLETED)

    async with serving(torrent) as wire:
        async with wire.events("SendStreamingMessage", {"message": message()}) as events:
            assert "task" in await anext(events)
            while state((await wire.rpc("ListTasks"))["result"]["tasks"][0]) != "completed":
                await asyncio.sleep(0.05)
            rest = [event async for event in events]
        assert len(rest) == 3002
        assert state(rest[-1]["statusUpdate"]) == "completed"
        assert replay(rest)["response"] == "x" * 8000 * 3000


async def test_a_subscriber_that_leaves_does_not_disturb_another():
    go = asyncio.Event()

    async def waiting(stage: Stage) -> None:
        await stage.task()
        await stage.status(TaskState.TASK_STATE_WORKING)
        await go.wait()
        await stage.status(TaskState.TASK_STATE_COMPLETED)

    async with serving(waiting) as wire:
        task = await wire.start()
        async with wire.events("SubscribeToTask", {"id": task["id"]}) as stays:
            assert "task" in await anext(stays)
            async with wire.events("SubscribeToTask", {"id": task["id"]}) as leaves:
                await anext(leaves)
            go.set()
            rest = [event async for event in stays]
        assert state(rest[-1]["statusUpdate"]) == "completed"


class Counting(MemoryTaskLogStore):
    """Counts what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = 0

    async def append(self, write: Write) -> None:
        self.written += sum(len(record.body) for record in write.records)
        self.written += len(write.row.body) if write.row is not None else 0
        await super().append(write)


async def test_what_is_written_of_an_answer_is_about_its_length():
    length, store = 300 * 600, Counting()

    async def long(stage: Stage) -> None:
        await stage.task()
        await stage.status(TaskState.TASK_STATE_WORKING)
        for index in range(300):
            await stage.chunk("x" * 600, append=index > 0)
        await stage.status(TaskState.TASK_STATE_COMPLETED)

    async with serving(long, log=TaskLog(store)) as wire:
        assert len(texts((await wire.send())["artifacts"][0])) == length
    assert length <= store.written < 1.5 * length


async def test_a_first_event_of_a_stream_is_the_task():
    async with serving(echo) as wire:
        first = (await wire.stream(text="a"))[0]
        assert first["task"]["history"][0]["parts"] == message("a")["parts"]

"""A storage that is locked or full: each task ends whole, or failed with a sentence, and none is left working."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from a2a.types.a2a_pb2 import TaskState

from tests.e2e.wire.agents import Stage, echo
from tests.e2e.wire.wiring import HEADERS, Wire, message, serving, state
from tests.support.task_logs import sqlite_log
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.persistence import database, write_probe
from utils.persistence.task_log_sqlite import NOT_WRITTEN
from utils.persistence.task_log_store import RecordKind

PIECES = 26
BEFORE, WITHIN = 5, 12
"""Pieces of an answer before the fault, and up to its end."""

_CHUNKS = f"SELECT count(*) FROM task_events WHERE kind IN ({RecordKind.ARTIFACT:d}, {RecordKind.CHUNK:d})"

BRIM = 500
"""Pages that a file may have which is to be filled."""


class Fault:
    """Answers in pieces: some before the fault, some while it lasts; those that are asked to wait, some after it."""

    def __init__(self, piece: str = "") -> None:
        self._piece = piece
        self.begun, self.over = asyncio.Event(), asyncio.Event()

    async def reached(self, path: Path, *, tasks: int = 1) -> None:
        """Wait until what comes before the fault is stored."""
        while stored(path, _CHUNKS) < tasks * BEFORE:
            await asyncio.sleep(0)

    async def drip(self, stage: Stage) -> None:
        await stage.task()
        await stage.status(TaskState.TASK_STATE_WORKING)
        for number in range(PIECES):
            if number == BEFORE:
                await self.begun.wait()
            if number == WITHIN and stage.context.get_user_input() == "waits":
                await self.over.wait()
            await stage.chunk(f"{number} {self._piece}", append=number > 0, last=number == PIECES - 1)
        await stage.status(TaskState.TASK_STATE_COMPLETED)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the write lock of a file, as another process would."""
    other = sqlite3.connect(path, isolation_level=None, timeout=20)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


def text_of(task: dict[str, Any]) -> str:
    return "".join(part.get("text", "") for one in task.get("artifacts", ()) for part in one["parts"])


def streamed_text(events: list[dict[str, Any]]) -> str:
    parts = [
        part for one in events for part in one.get("artifactUpdate", {}).get("artifact", {}).get("parts", ())
    ]
    return "".join(part["text"] for part in parts)


def last_status(events: list[dict[str, Any]]) -> dict[str, Any]:
    last: dict[str, Any] = events[-1].get("statusUpdate") or events[-1].get("task") or events[-1]
    assert "status" in last, f"the stream ends without a state: {last}"
    return last


def check_failed(task: dict[str, Any], code: str = "storage_failed") -> None:
    assert task["metadata"][ERROR_EXTENSION]["code"] == code
    assert "stored" in task["status"]["message"]["parts"][0]["text"]


async def check_end(wire: Wire, events: list[dict[str, Any]]) -> str:
    """The reply and GetTask agree: all of the answer, or a failure with its code and sentence."""
    end = last_status(events)
    stored = await wire.get(end.get("taskId") or end["id"])
    assert state(stored) == state(end)
    whole = "".join(f"{number} " for number in range(PIECES))
    if state(end) == "completed":
        assert text_of(stored) == streamed_text(events) == whole
    else:
        check_failed(stored)
        check_failed(end)
    return state(end)


@pytest.mark.long
async def test_a_lock_longer_than_the_writers_patience_costs_a_task_its_answer_and_never_a_piece_of_it(
    tmp_path,
):
    path, fault = tmp_path / "tasks.sqlite", Fault()
    async with serving(fault.drip, log=sqlite_log(path)) as wire, asyncio.timeout(60):
        goes_on = [asyncio.create_task(wire.stream(text="goes on")) for _ in range(3)]
        waits = [asyncio.create_task(wire.stream(text="waits")) for _ in range(3)]
        await fault.reached(path, tasks=6)
        with locked(path):
            fault.begun.set()
            ends = {await check_end(wire, await one) for one in goes_on}
            assert ends == {"failed"}
        fault.over.set()
        for one in waits:
            await check_end(wire, await one)
        whole = await wire.stream(text="goes on")
        assert await check_end(wire, whole) == "completed"


async def test_the_end_of_a_task_is_written_when_the_storage_works_again(tmp_path):
    path, fault = tmp_path / "tasks.sqlite", Fault()
    async with serving(fault.drip, log=sqlite_log(path)) as wire, asyncio.timeout(60):
        answer = asyncio.create_task(wire.send(text="goes on"))
        await fault.reached(path)
        with locked(path):
            fault.begun.set()
            task = await answer
            check_failed(task)
            assert "Another program holds a file" in task["status"]["message"]["parts"][0]["text"]
            assert state(await wire.get(task["id"])) == "failed"
            listed = (await wire.rpc("ListTasks"))["result"]["tasks"]
            assert [state(one) for one in listed] == ["failed"]
        while stored_state(path, task["id"]) != TaskState.TASK_STATE_FAILED:
            await wire.get(task["id"])
    async with serving(echo, log=sqlite_log(path)) as wire:
        check_failed(await wire.get(task["id"]))


async def test_a_turn_that_the_storage_failed_lets_the_conversation_go_on(tmp_path):
    path, fault = tmp_path / "tasks.sqlite", Fault()
    async with serving(fault.drip, log=sqlite_log(path)) as wire, asyncio.timeout(60):
        answer = asyncio.create_task(wire.send(text="goes on"))
        await fault.reached(path)
        with locked(path):
            fault.begun.set()
            failed = await answer
        again = await wire.send(text="goes on", contextId=failed["contextId"])
        assert state(again) == "completed"


@pytest.mark.long
async def test_a_cancel_during_a_lock_is_answered_and_stays(tmp_path):
    path, fault = tmp_path / "tasks.sqlite", Fault()
    async with serving(fault.drip, log=sqlite_log(path)) as wire, asyncio.timeout(60):
        task = await wire.start(text="waits")
        await fault.reached(path)
        with locked(path):
            canceled = (await wire.rpc("CancelTask", {"id": task["id"]}))["result"]
            assert state(canceled) == "canceled"
            assert state(await wire.get(task["id"])) == "canceled"
        while stored_state(path, task["id"]) != TaskState.TASK_STATE_CANCELED:
            await wire.get(task["id"])


@pytest.mark.long
async def test_a_message_that_cannot_be_stored_at_all_is_refused_and_taken_later(tmp_path):
    path = tmp_path / "tasks.sqlite"
    sent = {"message": message("hi")}
    async with serving(echo, log=sqlite_log(path)) as wire, asyncio.timeout(60):
        with locked(path):
            body = {"jsonrpc": "2.0", "id": 7, "method": "SendMessage", "params": sent}
            refused = await wire.http.post(f"{wire.url}/", json=body, headers=HEADERS)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
        assert refused.json()["error"]["code"] == -32603
        assert state((await wire.rpc("SendMessage", sent))["result"]["task"]) == "completed"


@contextmanager
def full(path: Path) -> Iterator[None]:
    """Fill a file to the brim; its writer must have been told of the brim."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=20)) as other:
        other.execute("CREATE TABLE ballast (content BLOB)")
        while other.execute("PRAGMA page_count").fetchone()[0] < BRIM:
            other.execute("INSERT INTO ballast VALUES (zeroblob(16000))")
        yield
        other.execute("DROP TABLE ballast")


async def readyz(wire: Wire) -> tuple[int, str]:
    answer = await wire.http.get(f"{wire.url}/readyz")
    return answer.status_code, answer.json()["detail"]


async def test_a_full_storage_fails_the_turn_is_told_by_readiness_and_metrics_and_mends_itself(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(database, "_PRAGMAS", (*database._PRAGMAS, f"max_page_count={BRIM}"))
    monkeypatch.setattr(write_probe, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(write_probe, "RETRY_SECONDS", 0.0)
    path, fault = tmp_path / "tasks.sqlite", Fault(piece="x" * 20_000)
    async with serving(fault.drip, log=sqlite_log(path)) as wire, asyncio.timeout(60):
        assert (await readyz(wire))[0] == 200
        answer = asyncio.create_task(wire.send(text="goes on"))
        await fault.reached(path)
        with full(path):
            fault.begun.set()
            task = await answer
            check_failed(task, "storage_full")
            check_failed(await wire.get(task["id"]), "storage_full")
            refused = await wire.send(text="y" * 20_000)
            assert "error" in refused
            assert (await readyz(wire)) == (503, NOT_WRITTEN)
        while (await readyz(wire))[0] == 503:
            pass
        while stored_state(path, task["id"]) != TaskState.TASK_STATE_FAILED:
            await wire.get(task["id"])
        assert state(await wire.send(text="goes on")) == "completed"
        metrics = (await wire.http.get(f"{wire.url}/metrics")).text
        errors = re.search(r'platform_engineer_storage_errors_total{file="tasks"} (\S+)', metrics)
        assert errors is not None
        assert float(errors[1]) > 0


def stored_state(path: Path, task_id: str) -> int:
    return stored(path, "SELECT state FROM tasks WHERE id = ?", task_id)


def stored(path: Path, question: str, *values: str) -> int:
    """What another process reads in the file."""
    with closing(sqlite3.connect(path, timeout=20)) as reader:
        return int(reader.execute(question, values).fetchone()[0])

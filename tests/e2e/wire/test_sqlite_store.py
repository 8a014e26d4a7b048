"""Tasks outlive the process; what it left working does not stay so."""

import asyncio

from a2a.types.a2a_pb2 import TaskState

from tests.e2e.wire.agents import Stage, echo
from tests.e2e.wire.test_life_cycle import ask
from tests.e2e.wire.wiring import serving, state
from tests.support.task_logs import sqlite_log


async def test_a_task_and_its_artifacts_are_there_after_a_restart(tmp_path):
    path = tmp_path / "tasks.sqlite"
    async with serving(echo, log=sqlite_log(path)) as wire:
        before = await wire.send(text="remember me")
    async with serving(echo, log=sqlite_log(path)) as wire:
        assert await wire.get(before["id"]) == before


async def test_a_question_is_answered_after_a_restart(tmp_path):
    path = tmp_path / "tasks.sqlite"
    async with serving(ask, log=sqlite_log(path)) as wire:
        asked = await wire.send()
    async with serving(ask, log=sqlite_log(path)) as wire:
        answered = await wire.send(text="blue", taskId=asked["id"], messageId="m-2")
        assert state(answered) == "completed"
        assert [entry["parts"][0]["text"] for entry in answered["history"]] == ["hi", "blue"]


async def test_a_task_that_a_dead_process_left_working_is_failed(tmp_path):
    path = tmp_path / "tasks.sqlite"

    async def forever(stage: Stage) -> None:
        await stage.task()
        await stage.status(TaskState.TASK_STATE_WORKING)
        await stage.chunk("half", append=False)
        await asyncio.Event().wait()

    async with serving(forever, log=sqlite_log(path), settings={"SHUTDOWN_GRACE_SECONDS": "0"}) as wire:
        task = await wire.start()
        async with asyncio.timeout(60):
            while not (await wire.get(task["id"])).get("artifacts"):
                await asyncio.sleep(0)
    async with serving(echo, log=sqlite_log(path)) as wire:
        ended = await wire.get(task["id"])
        assert state(ended) == "failed"
        assert ended["artifacts"][0]["parts"] == [{"text": "half"}]
        assert (await wire.rpc("SubscribeToTask", {"id": task["id"]}))["error"]["code"] == -32004

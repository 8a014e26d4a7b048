"""A supervisor that is killed during a delegation: the next process follows it, or ends it where the turn is not resumed."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from a2a.types.a2a_pb2 import ListTasksRequest, Task, TaskState

from tests.e2e.agents.peers import Keys, connected
from tests.e2e.delegation.payer import Payer, listing_nothing, paying, refusing
from tests.e2e.delegation.teams import model
from tests.e2e.resume.test_killed_turns import ROOT, text_of
from tests.preloaded import process as preloaded
from utils.events import Usage
from utils.persistence.delegations import DelegationStore
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedReply

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(600)]

SPENT = Usage(100, 5)


@asynccontextmanager
async def supervisor(home: Path, url: str, **order: Any) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process for one turn."""
    given = json.dumps({"home": str(home), "text": "What is a?", "url": url, **order})
    process = await preloaded.start(
        ["-m", "tests.e2e.resume.supervisor_child", given],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def events_of(process: asyncio.subprocess.Process) -> AsyncIterator[dict[str, Any]]:
    assert process.stdout is not None
    async for line in process.stdout:
        if line.startswith(b"{"):
            yield json.loads(line)


async def killed_when(home: Path, url: str, event: asyncio.Event | None = None, **order: Any) -> None:
    """A process that is killed when the event comes, or where it stops."""
    async with supervisor(home, url, **order) as process, asyncio.timeout(60):
        if event is not None:
            await event.wait()
            return
        async for said in events_of(process):
            if said["event"] == "stopped":
                return


async def recovered(home: Path, url: str) -> list[dict[str, Any]]:
    async with supervisor(home, url, recovered=True) as process, asyncio.timeout(60):
        return [event async for event in events_of(process)]


async def remote_tasks(url: str) -> list[Task]:
    async with connected(url) as client:
        return list((await client.list_tasks(ListTasksRequest())).tasks)


async def delegations(home: Path) -> int:
    """How many rows are left of the task."""
    store = DelegationStore(home / "errands.sqlite")
    await store.open()
    try:
        return len([*await store.of_task("task"), *await store.abandoned("keys")])
    finally:
        await store.close()


async def test_a_delegation_under_way_is_followed_and_sent_once(tmp_path: Path) -> None:
    started, gate = asyncio.Event(), asyncio.Event()
    keys = model([ScriptedReply(text="a is 1", usage=SPENT, started=started, gate=gate)])
    async with running_agent(Keys, model=keys) as url:
        await killed_when(tmp_path, url, started)
        gate.set()
        events = await recovered(tmp_path, url)
        (task,) = await remote_tasks(url)
    assert text_of(events) == "Told: a is 1"
    assert task.status.state == TaskState.TASK_STATE_COMPLETED
    assert len(keys.requests) == 1
    assert used(events) == {"platform-engineer": (20, 2), "keys": (100, 5)}
    assert await delegations(tmp_path) == 0


@pytest.mark.parametrize("stop", ["record", "end"])
async def test_a_delegation_that_had_ended_is_neither_sent_nor_counted_again(
    tmp_path: Path, stop: str
) -> None:
    keys = model([ScriptedReply(text="a is 1", usage=SPENT)])
    async with running_agent(Keys, model=keys) as url:
        await killed_when(tmp_path, url, stop=stop)
        events = await recovered(tmp_path, url)
        assert len(await remote_tasks(url)) == 1
    assert text_of(events) == "Told: a is 1"
    assert len(keys.requests) == 1
    assert used(events)["platform-engineer"] == (20, 2)
    if stop == "record":
        assert used(events)["keys"] == (100, 5)


@pytest.mark.parametrize("look", [refusing, listing_nothing])
async def test_an_agent_that_cannot_tell_what_it_got_is_asked_once_and_the_outcome_is_unknown(
    tmp_path: Path, look: Any
) -> None:
    gate = asyncio.Event()
    agent = Payer(look=look, streaming=False, slow=gate.wait)
    async with paying(agent) as url:
        await killed_when(tmp_path, url, agent.got)
        gate.set()
        events = await recovered(tmp_path, url)
    assert len(agent.paid) == 1
    assert (events[-1]["event"], events[-1]["code"]) == ("Failed", "unknown_outcome")
    assert "It may have done what it was asked." in text_of(events)


def used(events: list[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    (by_agent,) = [event["by_agent"] for event in events if event["event"] == "UsageReported"]
    return {name: (each["input_tokens"], each["output_tokens"]) for name, each in by_agent.items()}


async def test_a_remote_task_of_a_turn_that_is_not_resumed_does_not_stay_working(tmp_path: Path) -> None:
    started = asyncio.Event()
    keys = model([ScriptedReply(text="never said", started=started, gate=asyncio.Event())])
    async with running_agent(Keys, model=keys) as url:
        await killed_when(tmp_path, url, started)
        async with supervisor(tmp_path, url, end_task=True) as process:
            await until_canceled(url)
            await stopped(process)
    assert await delegations(tmp_path) == 0


async def until_canceled(url: str) -> None:
    async with asyncio.timeout(60):
        while {task.status.state for task in await remote_tasks(url)} != {TaskState.TASK_STATE_CANCELED}:
            await asyncio.sleep(0.02)


async def stopped(process: asyncio.subprocess.Process) -> None:
    """Tell the process to close, and wait for that."""
    assert process.stdin is not None
    process.stdin.close()
    await process.wait()

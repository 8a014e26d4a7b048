"""The supervisor's process is killed while one sub-agent works and another waits for the user, and started again."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from a2a.types.a2a_pb2 import GetTaskRequest, ListTasksRequest, Task, TaskState
from google.protobuf.json_format import MessageToDict

from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.agents.test_delegation import until_ready
from tests.e2e.delegation.teams import Asker, model
from tests.e2e.observability.processes import ROOT, SUPERVISOR
from tests.ports import free_port
from tests.preloaded import process as preloaded
from utils.a2a_common.protocol.extensions import TREE_EXTENSION
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedReply, call, calls
from utils.testing.strict_provider import Call, ChatRequest, Reply, StrictProvider, run_strict_provider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

COMPLETED, WAITS = TaskState.TASK_STATE_COMPLETED, TaskState.TASK_STATE_INPUT_REQUIRED


@pytest.fixture(scope="module")
def double() -> Iterator[StrictProvider]:
    with run_strict_provider() as provider:
        yield provider


def brain(request: ChatRequest) -> Reply:
    """Delegates to both agents, then says what they answered; a later message is answered with all that was said."""
    if request.messages[-1].role == "tool":
        said = [each.text for each in request.messages if each.role == "tool"]
        return Reply(f"The agents said: {' / '.join(said)}")
    text = request.last_user_text
    if text.startswith("both"):
        return Reply("", [Call(name, name, {"request": text}) for name in ("keys", "asker")])
    return Reply("You said: " + " / ".join(each.text for each in request.messages if each.role == "user"))


@asynccontextmanager
async def supervisor(
    home: Path, double: StrictProvider, sub_agents: str
) -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    """The supervisor as a process of its own."""
    port = free_port()
    environ = {
        **os.environ, **double.environment("openai"), "PYTHONPATH": str(ROOT),
        "PLATFORM_ENGINEER_HOME": str(home), "SUB_AGENTS": sub_agents, "SUB_AGENT_REFRESH_SECONDS": "0.2",
    }  # fmt: skip
    started = await preloaded.start(
        [*SUPERVISOR, "--port", str(port)], env=environ, cwd=home, stderr=asyncio.subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}"
    try:
        await _until_up(url)
        yield url, started
    finally:
        if started.returncode is None:
            started.send_signal(signal.SIGTERM)
        await started.wait()


async def _until_up(url: str) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                return await until_ready(url)
            except httpx.TransportError:
                await asyncio.sleep(0.05)


async def tasks_of(url: str) -> list[Task]:
    async with connected(url) as client:
        return list(reversed((await client.list_tasks(ListTasksRequest(include_artifacts=True))).tasks))


async def until_all(url: str, state: int) -> None:
    """Wait until every task of an agent is in this state."""
    async with asyncio.timeout(60):
        while {task.status.state for task in await tasks_of(url)} != {state}:
            await asyncio.sleep(0.05)


def tree_of(task: Task) -> dict[str, Any]:
    """What a task's metadata says of itself and those below it."""
    tree: dict[str, Any] = MessageToDict(task.metadata)[TREE_EXTENSION]
    return tree


@pytest.mark.timeout(600)  # two starts of a real process
async def test_a_turn_of_a_killed_supervisor_goes_on_where_one_agent_works_and_another_waits_for_the_user(
    double: StrictProvider, tmp_path: Path
) -> None:
    double.reset(brain)
    began = time.monotonic()
    started, finish = asyncio.Event(), asyncio.Event()
    keys = model([ScriptedReply(text="a is 1", started=started, gate=finish)])
    asker = model([calls(call("where")), "Found in Rome."])
    async with running_agent(Keys, model=keys) as keys_url, running_agent(Asker, model=asker) as asker_url:
        listed = f"keys={keys_url},asker={asker_url}"
        async with supervisor(tmp_path, double, listed) as (url, process), connected(url) as client:
            asking = asyncio.create_task(ask(client, "both for a"))
            await asyncio.wait_for(started.wait(), 60)
            working = time.monotonic()
            await until_all(asker_url, WAITS)
            (cut_off,) = await tasks_of(url)
            killed = time.monotonic()
            process.send_signal(signal.SIGKILL)
            await process.wait()
            with pytest.raises(Exception, match=r".*"):
                await asking
        async with supervisor(tmp_path, double, listed) as (url, _), connected(url) as client:
            worked, away = time.monotonic() - working, time.monotonic() - killed
            finish.set()
            await until_all(url, WAITS)
            (waits,) = await tasks_of(url)
            where = {"task_id": cut_off.id, "context_id": cut_off.context_id}
            answered = await ask(client, '{"city": "Rome"}', **where)
            told = await ask(client, "what did I say?", context_id=cut_off.context_id)
            ended = await client.get_task(GetTaskRequest(id=cut_off.id))
        (at_keys,), (at_asker,) = await tasks_of(keys_url), await tasks_of(asker_url)
    assert answered.state == "completed"
    assert answered.text == "The agents said: a is 1 / Found in Rome."
    assert "both for a" in told.text
    assert (at_keys.status.state, at_asker.status.state) == (COMPLETED, COMPLETED)  # each was sent once
    assert (len(keys.requests), len(asker.requests)) == (1, 2)
    assert double.rejections == []
    below = {child["agent"]: child for child in tree_of(ended)["children"]}
    assert worked < tree_of(at_keys)["seconds"] <= below["keys"]["seconds"]
    assert tree_of(cut_off)["seconds"] + away < tree_of(waits)["seconds"] < tree_of(ended)["seconds"]
    assert tree_of(ended)["seconds"] < time.monotonic() - began

"""The supervisor is killed while sub-agents work and wait for it, and started again."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from a2a.types.a2a_pb2 import ListTasksRequest, Task, TaskState

from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.agents.test_delegation import until_ready
from tests.e2e.delegation.teams import Asker, model
from tests.e2e.observability.processes import ROOT, SUPERVISOR
from tests.ports import free_port
from tests.preloaded import process as preloaded
from utils.messages.repair import INTERRUPTED as CUT_OFF
from utils.persistence.task_states import INTERRUPTED, OPEN
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedReply, call, calls
from utils.testing.strict_provider import Call, ChatRequest, Reply, StrictProvider, run_strict_provider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


@pytest.fixture(scope="module")
def double() -> Iterator[StrictProvider]:
    with run_strict_provider() as provider:
        yield provider


def brain(request: ChatRequest) -> Reply:
    """Delegates what begins with "ask", to both agents what begins with "both"; else tells what was said."""
    last = request.messages[-1]
    if last.role == "tool":
        return Reply(f"The agent said: {last.text}")
    text = request.last_user_text
    wanted = {"ask": ["keys"], "both": ["keys", "asker"]}.get(text.split()[0], [])
    if wanted:
        return Reply(
            "", [Call(f"{name}-{len(request.messages)}", name, {"request": text}) for name in wanted]
        )
    return Reply("You said: " + " / ".join(each.text for each in request.messages if each.role == "user"))


@asynccontextmanager
async def supervisor(
    home: Path, double: StrictProvider, sub_agents: str
) -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    """The supervisor as a process of its own."""
    port = free_port()
    environ = {
        **os.environ, **double.environment("openai"), "LLM_MAX_RETRIES": "0", "PYTHONPATH": str(ROOT),
        "PLATFORM_ENGINEER_HOME": str(home), "SUB_AGENTS": sub_agents, "SUB_AGENT_REFRESH_SECONDS": "0.2",
    }  # fmt: skip
    started = await preloaded.start(
        [*SUPERVISOR, "--port", str(port)], env=environ, cwd=home, stderr=asyncio.subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}"
    try:
        await _until_ready(url)
        yield url, started
    finally:
        if started.returncode is None:
            started.send_signal(signal.SIGTERM)
        await started.wait()


async def _until_ready(url: str) -> None:
    import httpx

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
    async with asyncio.timeout(30):
        while {task.status.state for task in await tasks_of(url)} != {state}:
            await asyncio.sleep(0.02)


@pytest.mark.timeout(300)  # two starts of a real process
async def test_a_killed_supervisor_leaves_no_task_working_and_the_conversation_goes_on(
    double: StrictProvider, tmp_path: Path
) -> None:
    """One agent works when the process dies, another has asked its question already."""
    double.reset(brain)
    started, asker = asyncio.Event(), model([calls(call("where"))])
    slow = ScriptedReply(text="never said", started=started, gate=asyncio.Event())
    keys = model([slow, "a is 1"])
    async with running_agent(Keys, model=keys) as keys_url, running_agent(Asker, model=asker) as asker_url:
        listed = f"keys={keys_url},asker={asker_url}"
        async with supervisor(tmp_path, double, listed) as (url, process), connected(url) as client:
            asking = asyncio.create_task(ask(client, "both for a"))
            await asyncio.wait_for(started.wait(), 60)
            await until_all(asker_url, TaskState.TASK_STATE_INPUT_REQUIRED)
            (cut_off,) = await tasks_of(url)
            process.send_signal(signal.SIGKILL)
            await process.wait()
            with pytest.raises(Exception, match=r".*"):
                await asking
        async with supervisor(tmp_path, double, listed) as (url, _), connected(url) as client:
            (failed,) = await tasks_of(url)
            for at in (keys_url, asker_url):
                await until_all(at, TaskState.TASK_STATE_CANCELED)
            told = await ask(client, "what did I say?", context_id=cut_off.context_id)
            again = await ask(client, "ask for a", context_id=cut_off.context_id)
            left = [task for at in (url, keys_url, asker_url) for task in await tasks_of(at)]
        remote = await tasks_of(keys_url)
    assert failed.id == cut_off.id
    assert failed.status.state == TaskState.TASK_STATE_FAILED
    assert "restarted" in failed.status.message.parts[0].text
    assert told.text == "You said: both for a / what did I say?"
    assert again.text == "The agent said: a is 1"
    assert len(remote) == 2
    assert len({task.context_id for task in remote}) == 1  # the same conversation as before the kill
    assert not {task.status.state for task in left} & (OPEN | INTERRUPTED)
    shown = [each.text for each in double.requests[-1].messages if each.role == "tool"]
    assert shown == [CUT_OFF, CUT_OFF, "a is 1"]
    assert double.rejections == []

"""Tool calls that never got a result: whatever ended the run, the conversation goes on."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import CancelTaskRequest, GetTaskRequest, ListTasksRequest, TaskState
from structlog.testing import capture_logs

from tests.e2e.agents.peers import Answer, ask, connected
from tests.e2e.resilience.desk import PROVIDERS, QUICK, Desk, by_request, until_exists
from tests.ports import free_port
from tests.preloaded import process as preloaded
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION, ERROR_EXTENSION
from utils.errors import OutcomeUnknown
from utils.messages.repair import INTERRUPTED
from utils.testing.live_agent import running_agent
from utils.testing.strict_provider import ChatMessage, FaultKind, StrictProvider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

ROOT = Path(__file__).resolve().parents[3]


async def canceled_in_a_tool(client: Client, home: Path, text: str) -> Answer:
    """Ask, wait until the tool hangs, cancel."""
    asking = asyncio.create_task(ask(client, text))
    await until_exists(home / "desk" / f"hangs-{text.rsplit(maxsplit=1)[-1]}")
    newest = (await client.list_tasks(ListTasksRequest())).tasks[0]
    await client.cancel_task(CancelTaskRequest(id=newest.id))
    return await asking


def shown_results(said: Sequence[ChatMessage]) -> list[str]:
    return [each.text for each in said if each.role == "tool"]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_orphaned_tool_call_recovery(double: StrictProvider, tmp_path: Path, provider: str) -> None:
    """Document 000, scenario 2: a tool is called but never returns."""
    double.reset(by_request)
    settings = {**double.environment(provider), **QUICK}
    with capture_logs() as logs:
        async with running_agent(Desk, environ=settings, home=tmp_path) as url, connected(url) as client:
            cut_off = await canceled_in_a_tool(client, tmp_path, "hang a")
            await ask(client, "go on", context_id=cut_off.context_id)
            answer = await ask(client, "and on", context_id=cut_off.context_id)
    assert cut_off.state == "canceled"
    assert answer.state == "completed"
    assert shown_results(double.requests[-1].messages) == [INTERRUPTED]
    assert double.rejections == []
    said = [line["message"] for line in logs if "synthetic ToolMessages" in line.get("message", "")]
    assert said == ["Added 1 synthetic ToolMessages for interrupted tool calls"]  # once: it was persisted


async def test_a_result_that_came_before_the_cancel_is_kept(double: StrictProvider, tmp_path: Path) -> None:
    double.reset(by_request)
    settings = {**double.environment("openai"), **QUICK}
    async with running_agent(Desk, environ=settings, home=tmp_path) as url, connected(url) as client:
        cut_off = await canceled_in_a_tool(client, tmp_path, "both b")
        await ask(client, "go on", context_id=cut_off.context_id)
    assert shown_results(double.requests[-1].messages) == ["note b", INTERRUPTED]
    assert double.rejections == []


@pytest.mark.long
async def test_a_tool_that_hangs_is_given_up_and_the_model_told(
    double: StrictProvider, tmp_path: Path
) -> None:
    double.reset(by_request)
    settings = {**double.environment("openai"), **QUICK, "TOOL_TIMEOUT_SECONDS": "6"}
    async with running_agent(Desk, environ=settings, home=tmp_path) as url, connected(url) as client:
        answer = await ask(client, "both c")
    assert "tool_timeout" in shown_results(double.requests[-1].messages)[1]
    finished = [each for each in answer.metadata(ACTIVITY_EXTENSION) if each["kind"] == "tool_finished"]
    assert {each["tool"]: each["status"] for each in finished} == {"read": "ok", "hang": "error"}
    assert answer.state == "completed"


@pytest.mark.long
async def test_a_turn_that_takes_too_long_fails_and_the_conversation_goes_on(
    double: StrictProvider, tmp_path: Path
) -> None:
    double.reset(by_request)
    settings = {**double.environment("openai"), **QUICK, "TURN_TIMEOUT_SECONDS": "10"}
    async with running_agent(Desk, environ=settings, home=tmp_path) as url, connected(url) as client:
        failed = await ask(client, "hang d")
        answer = await ask(client, "go on", context_id=failed.context_id)
    assert failed.state == "failed"
    assert "longer than it may" in failed.last_words
    assert answer.text == "You said: hang d / go on"
    assert double.rejections == []


async def test_a_model_that_fails_after_a_tool_leaves_no_call_open(
    double: StrictProvider, tmp_path: Path
) -> None:
    double.reset(by_request)
    settings = {**double.environment("openai"), **QUICK}
    async with running_agent(Desk, environ=settings, home=tmp_path) as url, connected(url) as client:
        double.brain = _fails_after_tools
        failed = await ask(client, "read e")
        double.brain = by_request
        answer = await ask(client, "go on", context_id=failed.context_id)
    assert (failed.state, failed.metadata(ERROR_EXTENSION)[0]["code"]) == ("completed", "auth_failed")
    assert "note e" in failed.text
    assert answer.text == "You said: read e / go on"
    assert shown_results(double.requests[-1].messages) == ["note e"]
    assert double.rejections == []


def _fails_after_tools(request: Any) -> Any:
    from utils.testing.strict_provider import Fault

    return Fault(FaultKind.UNAUTHORISED) if request.messages[-1].role == "tool" else by_request(request)


@asynccontextmanager
async def process(
    home: Path, double: StrictProvider, agent: str = "Desk"
) -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    """The agent as a process of its own."""
    port = free_port()
    environ = {
        **os.environ, **double.environment("openai"), **QUICK,
        "PLATFORM_ENGINEER_HOME": str(home), "PYTHONPATH": str(ROOT), "LOG_FORMAT": "json",
    }  # fmt: skip
    target = f"tests.e2e.resilience.desk:{agent}"
    command = ["-m", "utils.a2a_common.server.serve", target, "--port", str(port)]
    started = await preloaded.start(command, env=environ, cwd=home, stderr=asyncio.subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        await _until_ready(url)
        yield url, started
    finally:
        if started.returncode is None:
            started.send_signal(signal.SIGTERM)
        await started.wait()


async def _until_ready(url: str) -> None:
    async with httpx.AsyncClient(trust_env=False) as http, asyncio.timeout(60):
        while True:
            try:
                if (await http.get(f"{url}/readyz")).status_code == 200:
                    return
            except httpx.TransportError:
                await asyncio.sleep(0.05)


async def test_calls_that_block_threads_hold_up_neither_other_calls_nor_the_end_of_the_process(
    double: StrictProvider, tmp_path: Path
) -> None:
    double.reset(by_request)
    async with process(tmp_path, double, "BlockedDesk") as (url, started), connected(url) as client:
        for number in range(8):  # more than a pool of threads has on a small machine
            await canceled_in_a_tool(client, tmp_path, f"hang {number}")
        answer = await ask(client, "read g")
        started.send_signal(signal.SIGTERM)
        async with asyncio.timeout(30):
            assert await started.wait() == 0
    assert answer.text == "The tool said: note g"


async def until_written(database: Path, text: str) -> None:
    """Wait until a finished tool's result is on disk."""
    query = (
        "SELECT count(*) FROM writes JOIN conversation_messages AS it USING (thread_id)"
        " WHERE it.digest <> '' AND instr(writes.type, it.digest) AND instr(it.body, CAST(? AS BLOB))"
    )
    async with asyncio.timeout(60):
        while True:
            with closing(sqlite3.connect(database)) as connection:
                if connection.execute(query, (text,)).fetchone()[0]:
                    return
            await asyncio.sleep(0.01)


async def test_a_killed_process_goes_on_with_the_conversation_after_its_restart(
    double: StrictProvider, tmp_path: Path
) -> None:
    double.reset(by_request)
    async with process(tmp_path, double) as (url, started), connected(url) as client:
        asking = asyncio.create_task(ask(client, "both f"))
        await until_exists(tmp_path / "desk" / "hangs-f")
        await until_written(tmp_path / "desk" / "checkpoints.sqlite", "note f")
        task = (await client.list_tasks(ListTasksRequest())).tasks[0]
        started.send_signal(signal.SIGKILL)
        await started.wait()
        with pytest.raises(Exception, match=r".*"):
            await asking
    async with process(tmp_path, double) as (url, _), connected(url) as client:
        answer = await ask(client, "go on", context_id=task.context_id)
        recovered = await client.get_task(GetTaskRequest(id=task.id))
    assert recovered.status.state == TaskState.TASK_STATE_FAILED
    assert "whether it had its effect is unknown" in recovered.status.message.parts[0].text
    assert answer.text == "You said: both f / go on"
    read, cut_off = shown_results(double.requests[-1].messages)
    assert read == "note f"
    assert OutcomeUnknown.code in cut_off
    assert double.rejections == []

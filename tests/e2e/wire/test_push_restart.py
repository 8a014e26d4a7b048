"""Webhooks of tasks outlive the process, each with its owner."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.responses import Response

from tests.e2e.agents.peers import Keys
from tests.e2e.wire.agents import Script, echo
from tests.e2e.wire.test_life_cycle import Gate, ask
from tests.e2e.wire.test_push import PRIVATE, Hook, listening, send_with
from tests.e2e.wire.test_scope import AUTH, as_user
from tests.e2e.wire.wiring import HEADERS, Wire, serving, state
from tests.support.task_logs import sqlite_log
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.a2a_common.server.push.store import SqlitePushConfigs
from utils.persistence.runs import SqliteRuns
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls


@asynccontextmanager
async def process(folder: Path, script: Script) -> AsyncIterator[Wire]:
    """A server on the files of the one before."""
    async with serving(
        script,
        log=sqlite_log(folder / "tasks.sqlite"),
        runs=SqliteRuns(folder / "runs.sqlite"),
        push_configs=SqlitePushConfigs(folder / "push.sqlite"),
        settings=PRIVATE,
        middleware=AUTH,
    ) as wire:
        yield wire


async def configs(wire: Wire, task_id: str, headers: dict[str, str] = HEADERS) -> list[str]:
    listed = await wire.rpc("ListTaskPushNotificationConfigs", {"taskId": task_id}, headers)
    return [config["id"] for config in listed["result"].get("configs", [])]


async def test_a_webhook_hears_of_the_answer_that_comes_after_a_restart(tmp_path: Path) -> None:
    hook = Hook()
    async with listening(hook) as url:
        async with process(tmp_path, ask) as wire:
            asked = (await send_with(wire, url, token="t"))["result"]["task"]
            await hook.heard(2)
        async with process(tmp_path, ask) as wire:
            assert await configs(wire, asked["id"]) == [asked["id"]]
            answered = await wire.send(text="blue", taskId=asked["id"])
            await hook.heard(5)
    assert state(answered) == "completed"
    headers, last = hook.requests[-1]
    assert state(last["statusUpdate"]) == "completed"
    assert headers["x-a2a-notification-token"] == "t"
    assert stat.S_IMODE((tmp_path / "push.sqlite").stat().st_mode) == 0o600


def killed(folder: Path, copy: Path) -> Path:
    """What a process leaves that is killed now: a copy of its files."""
    copy.mkdir()
    for file in folder.glob("*.sqlite"):
        with closing(sqlite3.connect(file)) as source:
            source.execute("VACUUM INTO ?", [str(copy / file.name)])
    return copy


async def test_a_webhook_hears_the_end_of_a_task_whose_process_was_killed(tmp_path: Path) -> None:
    gate, hook = Gate(), Hook()
    (tmp_path / "first").mkdir()
    async with listening(hook) as url:
        async with process(tmp_path / "first", gate) as wire:
            sending = asyncio.create_task(send_with(wire, url))
            await hook.heard(2)
            left = killed(tmp_path / "first", tmp_path / "second")
            gate.open.set()
            await sending
            await hook.heard(4)
        told = len(hook.requests)
        async with process(left, echo):
            async with asyncio.timeout(60):
                while "failed" not in [state(body["statusUpdate"]) for body in told_since(hook, told)]:
                    await hook.heard(len(hook.requests) + 1)
        last = hook.requests[-1][1]["statusUpdate"]
        assert last["metadata"][ERROR_EXTENSION]["code"] == "interrupted"


def told_since(hook: Hook, count: int) -> list[dict[str, Any]]:
    return [body for _, body in hook.requests[count:] if "statusUpdate" in body]


async def test_a_webhook_hears_an_end_that_its_process_was_killed_before_it_sent(tmp_path: Path) -> None:
    held, go_on = asyncio.Event(), asyncio.Event()

    async def hold_the_end(count: int) -> Response:
        if count == 4:
            held.set()
            await go_on.wait()
        return Response(status_code=204)

    hook = Hook(hold_the_end)
    (tmp_path / "first").mkdir()
    async with listening(hook) as url:
        async with process(tmp_path / "first", echo) as wire:
            await send_with(wire, url)
            await held.wait()
            left = killed(tmp_path / "first", tmp_path / "second")
            go_on.set()
        told = len(hook.requests)
        async with process(left, echo):
            await hook.heard(told + 1)
        assert [state(body["statusUpdate"]) for body in told_since(hook, told)][-1] == "completed"
        told = len(hook.requests)
        async with process(left, echo):
            pass
        assert len(hook.requests) == told, "what was sent is not sent again"


async def test_a_config_has_its_owner_after_a_restart_and_what_was_deleted_stays_so(tmp_path: Path) -> None:
    async with process(tmp_path, echo) as wire:
        task_id = (await wire.send(headers=as_user("ann")))["id"]
        for name in ("kept", "gone"):
            made = {"taskId": task_id, "id": name, "url": "http://127.0.0.1:9/"}
            await wire.rpc("CreateTaskPushNotificationConfig", made, as_user("ann"))
        await wire.rpc("DeleteTaskPushNotificationConfig", {"taskId": task_id, "id": "gone"}, as_user("ann"))
    async with process(tmp_path, echo) as wire:
        assert await configs(wire, task_id, as_user("ann")) == ["kept"]
        asked = {"taskId": task_id, "id": "kept"}
        for headers in (as_user("bob"), HEADERS):
            refused = await wire.rpc("GetTaskPushNotificationConfig", asked, headers)
            assert refused["error"]["code"] == -32001
        moved = {**asked, "url": "http://127.0.0.1:10/"}
        await wire.rpc("CreateTaskPushNotificationConfig", moved, as_user("ann"))
    async with process(tmp_path, echo) as wire:
        kept = (await wire.rpc("GetTaskPushNotificationConfig", asked, as_user("ann")))["result"]
        assert kept["url"] == "http://127.0.0.1:10/"


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
async def test_an_agent_keeps_its_webhooks_in_its_home(tmp_path: Path) -> None:
    async def rpc(url: str, method: str, params: dict[str, Any]) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        async with httpx.AsyncClient(trust_env=False, timeout=60) as http:
            return (await http.post(f"{url}/", json=body, headers=HEADERS)).json()["result"]

    said = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
    model = ScriptedModel.of(calls(call("lookup", key="a")), "Hello.")
    async with running_agent(Keys, environ=PRIVATE, model=model, home=tmp_path) as url:
        task_id = (await rpc(url, "SendMessage", {"message": said}))["task"]["id"]
        made = {"taskId": task_id, "id": "c", "url": "http://127.0.0.1:9/"}
        await rpc(url, "CreateTaskPushNotificationConfig", made)
    async with running_agent(Keys, environ=PRIVATE, model=ScriptedModel.of(), home=tmp_path) as url:
        listed = await rpc(url, "ListTaskPushNotificationConfigs", {"taskId": task_id})
    assert [config["id"] for config in listed["configs"]] == ["c"]

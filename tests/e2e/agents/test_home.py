"""An agent's folder: nobody else may read it, one process works on it, and a damaged file in it is named."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from pathlib import Path
from typing import Any

import httpx
import pytest
from a2a.types.a2a_pb2 import Task, TaskState, TaskStatus

from tests.e2e.cli.command import run
from tests.e2e.cli.test_up import Scene
from tests.e2e.observability.processes import KEYS, SUPERVISOR, Served, ready, started
from tests.e2e.wire.wiring import HEADERS, message
from tests.ports import free_port
from utils.a2a_common.tasks.log import TaskLog
from utils.persistence.task_log_sqlite import SqliteTaskLogStore

WORKING = TaskState.TASK_STATE_WORKING
LEAF = 0x0A
"""First byte of a page of a SQLite file that leads to no other: in tables without row ids it holds the rows."""


async def answer_to(served: Served, text: str) -> dict[str, Any]:
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message(text)}}
    async with httpx.AsyncClient(trust_env=False, timeout=30) as http:
        answer = await http.post(f"{served.url}/", json=body, headers=HEADERS)
    told: dict[str, Any] = answer.json()
    return told


async def ask(served: Served, text: str) -> None:
    told = await answer_to(served, text)
    assert "result" in told, told


def open_to_others(home: Path) -> list[str]:
    paths = [home, *home.rglob("*")]
    return [str(path.relative_to(home)) for path in paths if stat.S_IMODE(path.stat().st_mode) & 0o077]


def left_by_an_older_version(home: Path) -> None:
    (home / "logs").mkdir(parents=True)
    (home / "keys").mkdir()
    for name in ("keys/old.sqlite", "logs/keys.log", "run.json", "chat_history"):
        (home / name).write_text("what somebody said")
        (home / name).chmod(0o644)
    for folder in (home, home / "logs", home / "keys"):
        folder.chmod(0o755)


@pytest.fixture
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.usefixtures("usual_umask")
async def test_what_people_say_is_in_no_file_that_others_may_read(tmp_path):
    home = tmp_path / "home"
    left_by_an_older_version(home)
    with started(tmp_path, "keys", KEYS, {"PLATFORM_ENGINEER_HOME": str(home)}) as served:
        async with ready(served):
            await ask(served, "which keys are there?")
            assert (home / "keys" / "tasks.sqlite-wal").exists()
            assert open_to_others(home) == []


@pytest.mark.usefixtures("usual_umask")
async def test_a_shared_folder_above_the_agents_own_keeps_its_rights(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o1777)
    with started(tmp_path, "keys", KEYS, {"PLATFORM_ENGINEER_HOME": str(home)}) as served:
        async with ready(served):
            assert stat.S_IMODE(home.stat().st_mode) == 0o1777
            assert open_to_others(home / "keys") == []


@pytest.mark.long
async def test_a_second_process_on_one_folder_is_refused_and_the_next_one_after_a_kill_is_not(tmp_path):
    with started(tmp_path, "first", KEYS, {}) as first:
        async with ready(first):
            with started(tmp_path, "second", KEYS, {}) as second:
                assert await asyncio.to_thread(second.process.wait, 60) == 2
                said = second.log.read_text()
            assert f"process {first.process.pid}" in said
            assert "PLATFORM_ENGINEER_HOME" in said
            assert "Traceback" not in said
            await ask(first, "still there?")
            first.process.kill()
            await asyncio.to_thread(first.process.wait, 20)
    with started(tmp_path, "third", KEYS, {}) as third:
        async with ready(third):
            await ask(third, "and now?")


async def test_a_service_whose_folder_was_deleted_takes_no_message_and_says_so(tmp_path):
    home = tmp_path / "home"
    with started(tmp_path, "keys", KEYS, {"PLATFORM_ENGINEER_HOME": str(home)}) as served:
        async with ready(served):
            await ask(served, "which keys are there?")
            shutil.rmtree(home)
            refused = await answer_to(served, "and now?")
            assert refused["error"]["data"][0]["metadata"] == {"taken": "false"}
            assert "was deleted or moved while it runs" in refused["error"]["message"]
            async with httpx.AsyncClient(trust_env=False, timeout=30) as http:
                asked = await http.get(f"{served.url}/readyz")
            assert (asked.status_code, "gone" in asked.json()["detail"]) == (503, True)
            assert "storage.gone" in served.log.read_text()


@pytest.mark.parametrize("name", ["tasks", "checkpoints", "push", "contexts", "errands"])
async def test_a_damaged_file_is_named_with_the_way_out(tmp_path, name):
    folder = tmp_path / "platform-engineer"
    folder.mkdir()
    (folder / f"{name}.sqlite").write_bytes(b"no database at all, but much longer than a header" * 99)
    with started(tmp_path, "supervisor", SUPERVISOR, {}) as served:
        assert await asyncio.to_thread(served.process.wait, 60) == 2
        said = served.log.read_text()
    assert "Traceback" not in said
    assert f"platform-engineer/{name}.sqlite" in said.splitlines()[-1]
    assert "move it away" in said.splitlines()[-1]
    assert str(tmp_path) not in said.splitlines()[-1]


async def test_pages_that_are_found_damaged_after_the_file_was_opened_are_named_too(tmp_path):
    folder = tmp_path / "platform-engineer"
    folder.mkdir()
    file = folder / "tasks.sqlite"
    log = TaskLog(SqliteTaskLogStore(file))
    await log.open()
    for number in range(200):
        writer = await log.claim(f"t{number}", "ann")
        await writer.append(Task(id=f"t{number}", context_id="marked", status=TaskStatus(state=WORKING)))
        writer.release()
    await log.close()
    content = bytearray(file.read_bytes())
    for start in range(4096, len(content), 4096):
        if content[start] == LEAF and b"marked" in content[start : start + 4096]:
            content[start : start + 4096] = b"\xaa" * 4096
    file.write_bytes(content)
    with started(tmp_path, "supervisor", SUPERVISOR, {}) as served:
        assert await asyncio.to_thread(served.process.wait, 60) == 2
        said = served.log.read_text()
    assert "storage.damaged" in said
    assert "platform-engineer/tasks.sqlite" in said.splitlines()[-1]
    assert "move it away" in said.splitlines()[-1]


async def test_a_setting_that_is_found_wrong_at_the_start_is_a_sentence_too(tmp_path):
    with started(tmp_path, "supervisor", SUPERVISOR, {"MODEL_PRICES": "foo"}) as served:
        assert await asyncio.to_thread(served.process.wait, 60) == 2
        said = served.log.read_text()
    assert "Traceback" not in said
    assert "MODEL_PRICES" in said.splitlines()[-1]


@pytest.mark.usefixtures("usual_umask")
async def test_what_up_writes_and_what_it_finds_is_its_users_alone(tmp_path):
    home = tmp_path / "home"
    left_by_an_older_version(home)
    scene = Scene(home)
    async with scene.up():
        ours = [home, *home.glob("run.*"), *(home / "logs").rglob("*"), home / "logs", home / "chat_history"]
        assert [path.name for path in ours if stat.S_IMODE(path.stat().st_mode) & 0o077] == []


@pytest.mark.long
async def test_up_tells_that_another_process_works_on_an_agents_folder(tmp_path):
    alone = {"SUB_AGENTS": "keys=http://127.0.0.1:1", "SUB_AGENT_WAIT_SECONDS": "0"}
    with started(tmp_path, "serving", SUPERVISOR, alone) as serving:
        async with ready(serving):
            done = await run(
                "up", "--port", str(free_port()), home=tmp_path, SUB_AGENTS="keys=http://127.0.0.1:1"
            )
    assert done.code == 2
    assert f"process {serving.process.pid}" in done.err

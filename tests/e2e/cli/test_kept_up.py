"""Under a chat that started the service, a process that ends is started again."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from multi_agents.cli.commands.up import until_stopped
from multi_agents.cli.errors import ServiceUnreachable
from multi_agents.cli.service import starter
from multi_agents.cli.service.keeper import kept_up
from multi_agents.cli.service.plan import make_plan
from multi_agents.cli.service.runfile import RunFile
from multi_agents.cli.service.service import Service, start_service
from tests.e2e.cli.fake_package import write_agent
from tests.e2e.cli.terminal import terminal
from tests.e2e.cli.test_up import alive, both_methods, processes_of, until
from tests.ports import free_ports
from utils.a2a_common.client.agents.agents_file import AgentEntry
from utils.errors import StorageFull

DIES_AFTER_THE_FIRST_START = """
import pathlib
here = pathlib.Path(__file__)
if here.with_suffix(".started").exists():
    print("no room for a second one", flush=True)
    sys.exit(7)
here.with_suffix(".started").touch()
"""


@asynccontextmanager
async def fake_service(folder: Path, extra: str = "", method: str = "spawn") -> AsyncIterator[Service]:
    """A supervisor and one agent without A2A, `extra` being what the agent does when it starts.

    What they are forked from imports next to nothing, as they need no more.
    """
    write_agent(folder, "boss")
    write_agent(folder, "one", extra=extra)
    boss, one = free_ports(2)
    plan = make_plan([AgentEntry("one", f"http://127.0.0.1:{one}", "one", one)], boss, "boss")
    environ = {**os.environ, "PYTHONPATH": str(folder), "PROCESS_START_METHOD": method}
    environ["PLATFORM_ENGINEER_HOME"] = str(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(starter, "SHARED_MODULES", ("json",))
        async with start_service(plan, RunFile(folder), environ, folder / "logs", lambda *_: None) as service:
            yield service


async def answers(url: str) -> None:
    async with httpx.AsyncClient(trust_env=False) as http, asyncio.timeout(60):
        while True:
            try:
                if (await http.get(f"{url}/readyz")).is_success:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.02)


@both_methods
async def test_a_process_that_is_killed_is_started_again_and_the_service_knows_it(tmp_path, method):
    told: asyncio.Queue[str] = asyncio.Queue()
    async with fake_service(tmp_path, method=method) as service, asyncio.timeout(60):
        async with kept_up(service, told.put, pauses=(0.01,)):
            killed = service.children[1].process.pid
            os.kill(killed, signal.SIGKILL)
            assert await told.get() == "one was killed by signal 9; it is started again."
            await answers(service.children[1].planned.url)
            while (running := json.loads((tmp_path / "run.json").read_text()))["agents"][1]["pid"] == killed:
                await asyncio.sleep(0.02)
        pids = [child.process.pid for child in service.children]
        assert [one["pid"] for one in running["agents"]] == pids
        assert killed not in pids
    assert not any(alive(pid) for pid in pids)


async def test_a_process_is_spawned_again_when_the_process_that_it_was_forked_from_is_gone(tmp_path):
    told: asyncio.Queue[str] = asyncio.Queue()
    async with fake_service(tmp_path, method="fork") as service, asyncio.timeout(60):
        forked = {child.process.pid for child in service.children}
        (server,) = set(processes_of(tmp_path)) - forked
        os.kill(server, signal.SIGKILL)
        async with kept_up(service, told.put, pauses=(0.01,)):
            killed = service.children[1].process.pid
            os.kill(killed, signal.SIGKILL)
            assert await told.get() == "one was killed by signal 9; it is started again."
            await until(lambda: service.children[1].process.pid != killed)
            await answers(service.children[1].planned.url)
            assert service.children[0].process.pid in forked
    assert processes_of(tmp_path) == []


async def test_a_process_that_ends_again_and_again_stays_down_and_its_reason_and_log_are_told(tmp_path):
    told: asyncio.Queue[str] = asyncio.Queue()
    async with (
        asyncio.timeout(60),
        fake_service(tmp_path, DIES_AFTER_THE_FIRST_START) as service,
        kept_up(service, told.put, pauses=(0.01, 0.02)),
    ):
        os.kill(service.children[1].process.pid, signal.SIGKILL)
        lines = [await told.get() for _ in range(3)]
    why = "The last line of its log: no room for a second one"
    assert lines == [
        "one was killed by signal 9; it is started again.",
        f"one ended with code 7; it is started again. {why}",
        f"one ended with code 7; after 2 new starts in a row it stays down. {why} Its log: {tmp_path / 'logs' / 'one.log'}",
    ]


async def test_a_service_without_a_chat_ends_with_the_reason_when_a_process_stays_down(tmp_path, capsys):
    async with asyncio.timeout(60), fake_service(tmp_path, DIES_AFTER_THE_FIRST_START) as service:
        os.kill(service.children[1].process.pid, signal.SIGKILL)
        with pytest.raises(ServiceUnreachable, match="one ended with code 7") as failed:
            await until_stopped(service, pauses=(0.01,))
        assert "| serving" in failed.value.message
    assert "after 1 new starts in a row it stays down" in capsys.readouterr().err


async def test_a_new_start_that_fails_unexpectedly_is_told_and_ends_a_service_without_a_chat(
    tmp_path, capsys
):
    async def start(planned):
        raise RuntimeError("no such thing")

    async with asyncio.timeout(60), fake_service(tmp_path) as service:
        os.kill(service.children[1].process.pid, signal.SIGKILL)
        with pytest.raises(ServiceUnreachable, match="RuntimeError was not expected here") as failed:
            await until_stopped(replace(service, start=start), pauses=(0.01,))
    said = capsys.readouterr().err
    assert failed.value.message in said
    assert "one is not started again any more if it ends." in said
    (details,) = re.findall(r"The details are in (\S+\.log)", said)
    assert "no such thing" in Path(details).read_text()
    Path(details).unlink()


async def test_a_process_that_was_started_again_is_kept_up_although_the_run_file_cannot_be_written(
    tmp_path, monkeypatch
):
    told: asyncio.Queue[str] = asyncio.Queue()
    async with asyncio.timeout(60), fake_service(tmp_path) as service:
        killed = service.children[1].process.pid
        monkeypatch.setattr(RunFile, "write", full)
        async with kept_up(service, told.put, pauses=(0.01, 0.01)):
            os.kill(killed, signal.SIGKILL)
            assert await told.get() == "one was killed by signal 9; it is started again."
            await until(lambda: service.children[1].process.pid != killed)
            os.kill(service.children[1].process.pid, signal.SIGKILL)
            assert await told.get() == "one was killed by signal 9; it is started again."


def full(*_: object) -> None:
    raise StorageFull


@pytest.mark.timeout(600)  # the whole service, and one of its processes twice
@pytest.mark.long
async def test_the_chat_goes_on_after_an_agent_of_its_service_was_killed(tmp_path):
    (tmp_path / "pager.md").write_text("# Pager\n\nThe pager code word is heliotrope.\n")
    settings = {"RAG_SOURCES": str(tmp_path / "pager.md"), "EMBEDDINGS_PROVIDER": "none"}
    question = "What do the docs say about the pager code word?\r"
    async with terminal("chat", home=tmp_path, **settings) as screen:
        await screen.shows("/help for commands", seconds=120)
        await screen.asks()
        screen.type(question)
        here = await screen.shows("heliotrope")
        await screen.asks()
        agents = {one["name"]: one for one in json.loads((tmp_path / "run.json").read_text())["agents"]}
        os.kill(agents["rag"]["pid"], signal.SIGKILL)
        here = await screen.shows("rag was killed by signal 9; it is started again.", since=here)
        await answers(agents["rag"]["url"])
        screen.type(question)
        await screen.shows("heliotrope", since=here)
        screen.type("/quit\r")
        assert await screen.ends() == 0

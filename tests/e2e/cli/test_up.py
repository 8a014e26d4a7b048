from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.e2e.cli.command import CLI, ROOT, Finished, finish, run, start_leading, start_program
from tests.e2e.cli.fake_package import write_agent, write_list
from tests.ports import free_ports
from utils.cancellation import end_tasks
from utils.processes.adoption import can_adopt

both_methods = pytest.mark.parametrize("method", ["fork", "spawn"])


LIGHT_CODE = """
from multi_agents.cli import main
from multi_agents.cli.service import starter

starter.SHARED_MODULES = ("json",)
main.main()
"""
LIGHT = ("-c", LIGHT_CODE)
"""The command line whose fork server imports next to nothing, as fake modules need no more."""


class Scene:
    """A folder with fake modules, and the arguments that start them; spawned where nothing else is said, which is cheaper.

    Args:
        folder: Where they are.
        method: How their processes start.
        program: The command line.
        ingested: The file until whose existence `one` says that it is ingesting; `up` makes it once that was printed.
        extras: What the modules do, by name.
    """

    def __init__(
        self,
        folder: Path,
        *,
        method: str = "spawn",
        program: tuple[str, str] = LIGHT,
        ingested: str | None = None,
        **extras: dict,
    ) -> None:
        if ingested:
            extras["one"] = {"awaited": ingested}
        self.awaited = folder / ingested if ingested else None
        self.folder = folder
        self.method = method
        self.program = program
        names = ["boss", "one", "two"]
        for name in names:
            write_agent(folder, name, **extras.get(name, {}))
        self.boss, self.one, self.two = free_ports(3)
        self.file = write_list(folder, one=self.one, two=self.two)

    @property
    def arguments(self) -> tuple[str, ...]:
        return ("up", "--port", str(self.boss), "--agents-file", str(self.file), "--supervisor", "boss")

    @property
    def environ(self) -> dict[str, str]:
        return {"PYTHONPATH": f"{ROOT}:{self.folder}", "PROCESS_START_METHOD": self.method}

    @property
    def run_file(self) -> Path:
        return self.folder / "run.json"

    async def start(self) -> asyncio.subprocess.Process:
        # What a forked fork server forks is not seen by `processes_of`; spawned ones are new interpreters in either case.
        begin = start_leading if self.method == "spawn" else start_program
        return await begin(self.program, *self.arguments, home=self.folder, **self.environ)

    async def run(self) -> Finished:
        return await finish(await self.start())

    def pids(self) -> list[int]:
        """The processes that the service says to have now."""
        return [one["pid"] for one in json.loads(self.run_file.read_text())["agents"]]

    @asynccontextmanager
    async def up(self):
        process = await self.start()
        lines = ""
        if self.awaited:
            lines = await read_until(process, b"one: ingesting")
            self.awaited.touch()
        lines += await read_until(process, b"The service is up")
        await read_until(process, b"  two ")
        try:
            yield process, lines, self.pids()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def read_until(process: asyncio.subprocess.Process, start: bytes) -> str:
    assert process.stderr is not None
    lines = []
    async with asyncio.timeout(60):
        while line := await process.stderr.readline():
            lines.append(line.decode())
            if line.startswith(start):
                return "".join(lines)
    raise AssertionError("".join(lines))


async def gone(pids: list[int]) -> None:
    await until(lambda: not any(alive(pid) for pid in pids))


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@both_methods
async def test_up_starts_everything_tells_what_it_waits_for_and_ends_without_a_trace(tmp_path, method):
    scene = Scene(tmp_path, method=method, program=CLI, ingested="documents")
    async with scene.up() as (process, lines, pids):
        assert "one: ingesting 3 of 12 documents\n" in lines
        assert lines.index("one: ingesting") < lines.index("one: ready")
        assert all(alive(pid) for pid in pids)
        process.send_signal(signal.SIGINT)
        done = await finish(process)
    assert done.code == 130
    assert not any(alive(pid) for pid in pids)
    assert not scene.run_file.exists()
    logs = {path.name for path in (tmp_path / "logs").iterdir()}
    assert logs - {"fork-server.log"} == {"supervisor.log", "one.log", "two.log"}
    assert ("fork-server.log" in logs) == (method == "fork" and can_adopt())
    assert not list(tmp_path.glob(".run*"))
    assert processes_of(tmp_path) == []


@both_methods
async def test_each_process_is_told_its_address_and_only_the_supervisor_the_others(tmp_path, method):
    scene = Scene(tmp_path, method=method)
    async with scene.up(), httpx.AsyncClient(trust_env=False) as http:
        boss = (await http.get(f"http://127.0.0.1:{scene.boss}/readyz")).json()["env"]
        one = (await http.get(f"http://127.0.0.1:{scene.one}/readyz")).json()["env"]
    assert boss == {
        "PUBLIC_URL": f"http://127.0.0.1:{scene.boss}",
        "PORT": str(scene.boss),
        "SUB_AGENTS": f"one=http://127.0.0.1:{scene.one},two=http://127.0.0.1:{scene.two}",
        "GRPC_PORT": None,
    }
    assert one["PUBLIC_URL"] == f"http://127.0.0.1:{scene.one}"
    assert one["SUB_AGENTS"] is None


async def test_a_taken_port_becomes_the_next_free_one_and_is_printed(tmp_path):
    scene = Scene(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", scene.one))
        taken.listen()
        async with scene.up() as (_, lines, _):
            assert f"Port {scene.one} is taken; one uses " in lines
            urls = {a["name"]: a["url"] for a in json.loads(scene.run_file.read_text())["agents"]}
            assert urls["one"] != f"http://127.0.0.1:{scene.one}"
            async with httpx.AsyncClient(trust_env=False) as http:
                assert (await http.get(f"{urls['one']}/readyz")).is_success


@both_methods
async def test_a_process_that_dies_at_start_shows_the_end_of_its_log_and_takes_the_others_down(
    tmp_path, method
):
    scene = Scene(tmp_path, method=method, two={"extra": "print('no such model'); sys.exit(7)"})
    done = await scene.run()
    assert done.code == 3
    assert "two ended with code 7" in done.err
    assert "| no such model" in done.err
    assert not scene.run_file.exists()
    assert processes_with(str(scene.one)) == []
    assert processes_of(tmp_path) == []


async def test_a_process_that_refuses_its_settings_exits_2(tmp_path):
    done = await Scene(tmp_path, two={"extra": "print('Set LLM_MODEL.'); sys.exit(2)"}).run()
    assert done.code == 2
    assert "Set LLM_MODEL." in done.err


async def test_a_process_that_dies_later_is_started_again_and_the_service_goes_on(tmp_path):
    scene = Scene(tmp_path)
    async with scene.up() as (process, _, pids):
        os.kill(pids[1], signal.SIGKILL)
        told = await read_until(process, b"one ")
        assert told.endswith("one was killed by signal 9; it is started again.\n")
        await until(lambda: scene.pids() != pids)
        now = scene.pids()
        assert (now[0], now[2]) == (pids[0], pids[2])
        assert alive(now[1])
        process.send_signal(signal.SIGINT)
        assert (await finish(process)).code == 130
    await gone(now)


@both_methods
async def test_killing_the_parent_leaves_no_process_and_no_stale_service(tmp_path, method):
    scene = Scene(tmp_path, method=method)
    async with scene.up() as (process, _, pids):
        process.kill()
        await process.wait()
        await gone(pids)
        await until(lambda: processes_of(tmp_path) == [])
        assert scene.run_file.exists()
    async with scene.up() as (_, _, again):  # the leftover is recognised and replaced
        assert not set(again) & set(pids)


@both_methods
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
async def test_a_signal_during_the_start_leaves_no_process(tmp_path, number, method):
    scene = Scene(tmp_path, method=method, ingested="never")
    process = await scene.start()
    await read_until(process, b"one: ingesting")
    process.send_signal(number)
    done = await finish(process)
    assert done.code == ENDS[number]
    await until(lambda: processes_of(tmp_path) == [])
    assert not scene.run_file.exists()


ENDS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("moment", ["run.lock", "logs/fork-server.log", "logs/supervisor.log"])
@pytest.mark.long
async def test_a_signal_before_anything_is_imported_leaves_no_process(tmp_path, number, moment):
    scene = Scene(tmp_path, method="fork", program=CLI)
    process = await scene.start()
    await until((tmp_path / moment).exists)
    process.send_signal(number)
    done = await finish(process)
    assert done.code == ENDS[number]
    assert "Traceback" not in done.err
    await until(lambda: processes_of(tmp_path) == [])
    assert not scene.run_file.exists()


async def test_the_service_lives_on_when_the_process_that_it_was_forked_from_is_killed(tmp_path):
    scene = Scene(tmp_path, method="fork")
    async with scene.up() as (process, _, pids):
        (server,) = set(processes_of(tmp_path)) - {process.pid, *pids}
        os.kill(server, signal.SIGKILL)
        await gone([server])
        async with httpx.AsyncClient(trust_env=False) as http:
            assert (await http.get(f"http://127.0.0.1:{scene.one}/readyz")).is_success
        process.send_signal(signal.SIGINT)
        await finish(process)
    assert processes_of(tmp_path) == []


async def test_commands_without_url_use_the_running_service(tmp_path):
    scene = Scene(tmp_path)
    (tmp_path / "boss.py").write_text(TALKER)
    async with scene.up():
        asked = await run("chat", "--ask", "hi", home=tmp_path)
        listed = await run("tasks", "list", "--json", home=tmp_path)
        agents = await run("agents", "--json", home=tmp_path)
    assert (asked.code, asked.out) == (0, "You said **hi**.\n")
    assert f"Using the service that runs already at http://127.0.0.1:{scene.boss}." in asked.err
    assert len(json.loads(listed.out)) == 1
    assert [(row["name"], row["health"]) for row in json.loads(agents.out)] == [
        ("supervisor", "ready"), ("one", "down"), ("two", "down"),
    ]  # fmt: skip


TALKER = """
import asyncio, sys
from tests.e2e.cli.scripted_agent import ScriptedAgent, serve
from tests.e2e.cli.test_chat import echoing


async def main():
    async with serve(ScriptedAgent(echoing), port=int(sys.argv[sys.argv.index("--port") + 1])):
        await asyncio.Event().wait()


asyncio.run(main())
"""


async def test_a_second_up_attaches_to_the_running_service(tmp_path):
    scene = Scene(tmp_path)
    async with scene.up():
        done = await scene.run()
    assert done.code == 0
    assert "The service runs already" in done.err
    assert f"http://127.0.0.1:{scene.boss}" in done.err


async def test_a_second_up_says_that_another_port_and_another_list_of_agents_are_not_used(tmp_path):
    scene = Scene(tmp_path)
    async with scene.up() as (process, _, _):
        same = await scene.run()
        first, scene.boss = scene.boss, free_ports(1)[0]
        scene.file = scene.file.rename(tmp_path / "other.yaml")
        other = await scene.run()
    assert "is not used" not in same.err
    way_out = f"is not used, since the service runs already. To use it, end process {process.pid} first."
    assert f"--port {scene.boss} {way_out}" in other.err
    assert f"--agents-file {scene.file} {way_out}" in other.err
    assert f"http://127.0.0.1:{first}" in other.err


async def test_two_ups_at_the_same_moment_start_one_service(tmp_path):
    scene = Scene(tmp_path, boss={"awaited": "both"})
    first, second = await asyncio.gather(scene.start(), scene.start())
    told, waiting = await asyncio.wait(
        {asyncio.create_task(read_until(one, b"Another process is starting")) for one in (first, second)},
        return_when=asyncio.FIRST_COMPLETED,
    )
    await end_tasks(waiting)
    assert all("Another process is starting" in each.result() for each in told)
    (tmp_path / "both").touch()
    done, _ = await asyncio.wait(
        {asyncio.create_task(first.wait()), asyncio.create_task(second.wait())},
        return_when=asyncio.FIRST_COMPLETED, timeout=60,
    )  # fmt: skip
    assert len(done) == 1
    attached, holder = (first, second) if first.returncode is not None else (second, first)
    assert "The service runs already" in (await finish(attached)).err
    assert attached.returncode == 0
    holder.send_signal(signal.SIGTERM)
    assert (await finish(holder)).code == 143
    assert processes_with(str(scene.boss)) == []


@both_methods
async def test_what_a_process_of_the_service_started_itself_is_ended_too(tmp_path, method):
    grandchild = "import subprocess; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', 'mark-' + str(options.port)])"
    scene = Scene(tmp_path, method=method, one={"extra": grandchild})
    async with scene.up() as (process, _, _):
        assert len(processes_with(f"mark-{scene.one}")) == 1
        process.send_signal(signal.SIGINT)
        await finish(process)
    assert processes_with(f"mark-{scene.one}") == []


async def test_a_wrong_setting_is_told_before_anything_starts(tmp_path):
    scene = Scene(tmp_path)
    done = await run(*scene.arguments, home=tmp_path, **scene.environ, LLM_PROVIDER="abacus")
    assert done.code == 2
    assert "Setting LLM_PROVIDER is wrong" in done.err
    assert not (tmp_path / "logs").exists()


async def test_a_wrong_agents_file_exits_2_before_anything_starts(tmp_path):
    scene = Scene(tmp_path)
    scene.file.write_text("one: {module: one}\n")
    done = await scene.run()
    assert done.code == 2
    assert "one takes module and port, or url" in done.err
    assert not (tmp_path / "logs").exists()


async def test_a_chat_starts_the_agents_of_the_file_that_it_is_given(tmp_path):
    scene = Scene(tmp_path)
    scene.file.write_text("one: {module: one}\n")
    done = await run("chat", "--agents-file", str(scene.file), "--ask", "hi", home=tmp_path, **scene.environ)
    assert done.code == 2
    assert "one takes module and port, or url" in done.err
    assert not (tmp_path / "logs").exists()


def processes_of(home: Path) -> list[int]:
    """Every living process that was started for this data folder."""
    wanted = f"PLATFORM_ENGINEER_HOME={home}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in path.read_bytes().split(b"\0") and alive(int(path.parent.name)):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def processes_with(argument: str) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if argument.encode() in path.read_bytes().split(b"\0") and alive(int(path.parent.name)):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found

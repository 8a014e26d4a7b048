"""A program that is forked from the preloaded interpreter finds what a new one would."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.preloaded import process as preloaded

pytestmark = pytest.mark.processes

SECONDS = 60
LOOK = """
import json, os, sys, threading
print(json.dumps({
    "cwd": os.getcwd(), "arguments": sys.argv, "environ": dict(os.environ), "path": sys.path[:2],
    "name": __name__, "threads": threading.active_count(), "input": sys.stdin.read(),
    "modules": sorted({name.split(".")[0] for name in sys.modules}),
}))
"""
ROOMS = {"utils", "agents", "multi_agents", "benchmarks", "tests"}


def variables(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], **more}


def test_a_program_finds_its_own_folder_variables_and_arguments_and_no_thread_or_module_of_the_project(
    tmp_path: Path,
) -> None:
    environ = variables(PYTHONPATH=str(tmp_path), WORD="first")
    done = preloaded.run(["-c", LOOK, "one", "two"], cwd=tmp_path, env=environ, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["cwd"] == str(tmp_path)
    assert seen["arguments"] == ["-c", "one", "two"]
    assert seen["environ"] == environ
    assert seen["path"] == ["", str(tmp_path)]
    assert (seen["name"], seen["threads"], seen["input"]) == ("__main__", 1, "")
    assert "langchain" in seen["modules"]
    assert not ROOMS & set(seen["modules"])


@pytest.mark.parametrize(
    "code",
    [
        "raise SystemExit('a reason')",
        "raise SystemExit(259)",
        "raise SystemExit(-1)",
        "raise SystemExit(None)",
        "1 / 0",
        "raise KeyboardInterrupt",
        "import atexit; atexit.register(print, 'last'); print('first'); raise SystemExit(3)",
        "import threading, time; threading.Thread(target=lambda: (time.sleep(0.05), print('later'))).start()",
        "import threading, time; threading.Thread(target=time.sleep, args=(600,), daemon=True).start()",
        "import os, sys; print('text'); os.close(1)",
    ],
)
def test_a_program_ends_as_with_a_new_interpreter(tmp_path: Path, code: str) -> None:
    new = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=variables(),
        capture_output=True,
        text=True,
        check=False,
    )
    done = preloaded.run(["-c", code], cwd=tmp_path, env=variables(), timeout=SECONDS)
    assert (done.returncode, done.stdout) == (new.returncode, new.stdout)
    assert done.stderr.splitlines()[-1:] == new.stderr.splitlines()[-1:]


def test_a_program_tells_at_its_end_of_what_it_left(tmp_path: Path) -> None:
    code = "async def lost(): pass\nkept = lost()"
    done = preloaded.run(["-c", code], cwd=tmp_path, env=variables(), timeout=SECONDS)
    assert "coroutine 'lost' was never awaited" in done.stderr


def test_a_module_of_another_folder_runs_as_with_a_new_interpreter(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import sys\nprint(__spec__.name, sys.argv[1:], file=sys.stderr)\nsys.exit(7)"
    )
    for _ in range(2):
        done = preloaded.run(["-m", "mine", "x"], cwd=tmp_path, env=variables(), timeout=SECONDS)
        assert (done.returncode, done.stdout, done.stderr) == (7, "", "mine ['x']\n")


@pytest.mark.parametrize(
    "code", ["raise KeyboardInterrupt", "1 / 0", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]
)
def test_a_program_ends_with_the_code_that_a_new_interpreter_has(tmp_path: Path, code: str) -> None:
    new = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False)
    forked = preloaded.run(["-c", code], cwd=tmp_path, env=variables(), timeout=SECONDS)
    assert forked.returncode == new.returncode != 0


async def test_two_programs_at_once_answer_and_are_ended_one_by_one(tmp_path: Path) -> None:
    pipe = asyncio.subprocess.PIPE
    echo = ["-c", "print(input(), flush=True); input()"]
    first, second = [
        await preloaded.start(echo, cwd=tmp_path, env=variables(), stdin=pipe, stdout=pipe) for _ in range(2)
    ]
    for process, word in ((first, b"one\n"), (second, b"two\n")):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(word)
        assert await process.stdout.readline() == word
    first.send_signal(signal.SIGTERM)
    assert await first.wait() == -signal.SIGTERM
    assert second.returncode is None
    out, _ = await second.communicate(b"end\n")
    assert out == b""
    assert await second.wait() == 0


async def test_a_program_that_has_ended_when_it_is_killed_is_waited_for(tmp_path: Path) -> None:
    process = await preloaded.start(["-c", ""], cwd=tmp_path, env=variables())
    transport: Any = process._transport  # type: ignore[attr-defined]
    report = transport.get_extra_info("subprocess").report
    select.select([report], [], [], SECONDS)
    assert process.returncode is None, "the event loop has not seen it yet"
    process.kill()
    async with asyncio.timeout(SECONDS):
        assert await process.wait() == 0


def test_variables_for_an_interpreter_that_starts_get_a_new_one(tmp_path: Path) -> None:
    assert preloaded.forks(variables(PYTHONPATH=str(tmp_path)))
    assert not preloaded.forks(variables(PYTHONHASHSEED="1"))
    environ = variables(PYTHONIOENCODING="ascii:backslashreplace")
    done = preloaded.run(["-c", "print('ß')"], cwd=tmp_path, env=environ, timeout=SECONDS)
    assert done.stdout == "\\xdf\n"


def test_a_program_of_this_checkout_finds_the_project_imported_and_ends_with_its_server(
    tmp_path: Path,
) -> None:
    environ = variables(PYTHONPATH=str(preloaded.ROOT))
    done = preloaded.run(["-c", LOOK], cwd=tmp_path, env=environ, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert {"utils", "agents", "multi_agents"} <= set(seen["modules"])
    assert "tests" not in seen["modules"]
    assert seen["threads"] == 1
    assert seen["path"] == ["", str(preloaded.ROOT)]
    assert seen["environ"] == environ


def test_a_program_of_a_copy_of_the_checkout_finds_no_module_of_this_one(tmp_path: Path) -> None:
    (tmp_path / "utils").mkdir()
    (tmp_path / "utils" / "__init__.py").write_text("")
    for path in (str(tmp_path), str(preloaded.ROOT)):
        done = preloaded.run(["-c", LOOK], cwd=tmp_path, env=variables(PYTHONPATH=path), timeout=SECONDS)
        assert done.returncode == 0, done.stderr
        assert not ROOMS & set(json.loads(done.stdout)["modules"])


@pytest.mark.long
def test_no_program_of_either_interpreter_outlives_the_tests(tmp_path: Path) -> None:
    here = str(preloaded.ROOT)
    code = (
        "import os, pathlib, subprocess, sys\n"
        "from tests.preloaded import process\n"
        "home = pathlib.Path(sys.argv[1])\n"
        f"for path in (str(home), {here!r}):\n"
        "    child = process.Forked(['-c', 'import time; time.sleep(600)'], cwd=home, env={'PYTHONPATH': path})\n"
        "    print(child.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    environ = variables(PYTHONPATH=here)
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as tests:  # fmt: skip
        assert tests.stdout is not None
        watched = [os.pidfd_open(int(tests.stdout.readline())) for _ in range(2)]
        tests.kill()
        for one in watched:
            ended, _, _ = select.select([one], [], [], SECONDS)
            os.close(one)
            assert ended


def test_a_program_that_others_start_has_the_input_output_variables_and_end_of_a_new_interpreter(
    tmp_path: Path,
) -> None:
    environ = variables(WORD="first", LC_ALL="C.UTF-8")  # without it an interpreter that starts adds LC_CTYPE
    line = [*preloaded.attaching(), "-c", f"{LOOK}\nraise SystemExit(7)", "one"]
    done = subprocess.run(
        line,
        cwd=tmp_path,
        env=environ,
        input="typed",
        capture_output=True,
        text=True,
        check=False,
    )
    seen = json.loads(done.stdout)
    assert (done.returncode, seen["input"], seen["arguments"]) == (7, "typed", ["-c", "one"])
    assert (seen["cwd"], seen["environ"]) == (str(tmp_path), environ)
    assert "langchain" in seen["modules"]
    assert not ROOMS & set(seen["modules"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_program_that_others_start_is_ended_with_what_they_started(tmp_path: Path, number: int) -> None:
    code = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read(); print('read to the end')"
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*preloaded.attaching(), "-c", code], cwd=tmp_path, stdin=pipe, stdout=pipe
    ) as started:
        assert started.stdout is not None
        watched = os.pidfd_open(int(started.stdout.readline()))
        started.send_signal(number)
        ended, _, _ = select.select([watched], [], [], SECONDS)
        os.close(watched)
        assert ended
        assert started.wait(SECONDS) == -number
        assert started.stdout.read() == b""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_program_that_a_signal_ended_looks_so_to_who_started_it(tmp_path: Path, number: int) -> None:
    code = f"import os; os.kill(os.getpid(), {int(number)})"
    assert (
        subprocess.run([*preloaded.attaching(), "-c", code], cwd=tmp_path, check=False).returncode == -number
    )


STARTS_FORK_SERVERS = """
import asyncio, os, pathlib, sys
from utils.processes.fork_client import ForkServer
from utils.processes.request import ProcessTarget

async def main():
    for name in sys.argv[1:]:
        with pathlib.Path(name).open("ab") as log:
            server = await ForkServer.start(("json",), dict(os.environ), log)
            child = await server.fork(ProcessTarget("look", ("one",), {**os.environ, "WORD": name}), log)
            assert await child.wait() == 7
            await server.close()
    print(os.getpid())

asyncio.run(main())
"""


def test_the_first_fork_server_of_a_command_has_the_libraries_and_forks_what_another_one_would(
    tmp_path: Path,
) -> None:
    (tmp_path / "look.py").write_text(
        f"{LOOK}\nprint(os.getppid(), os.getsid(0) == os.getpid())\nsys.exit(7)"
    )
    environ = variables(PYTHONPATH=f"{preloaded.ROOT}{os.pathsep}{tmp_path}")
    line = ["-c", STARTS_FORK_SERVERS, "first", "second"]
    done = preloaded.run(line, cwd=tmp_path, env=environ, timeout=SECONDS, leads=True)
    assert done.returncode == 0, done.stderr
    seen = []
    for name in ("first", "second"):
        told, place = (tmp_path / name).read_text().splitlines()
        assert place == f"{done.stdout.strip()} True"
        seen.append(json.loads(told))
        assert seen[-1]["environ"].pop("WORD") == name
    first, second = ({name: one[name] for name in one if name != "modules"} for one in seen)
    first["environ"].pop("LC_CTYPE", None)
    second["environ"].pop("LC_CTYPE", None)  # what an interpreter that starts adds
    assert first == second
    assert ["langchain" in one["modules"] for one in seen] == [True, False]


STARTS_A_MODULE = """
import json, os, subprocess, sys
for variables in ({}, {"PYTHONUTF8": "1"}):
    command = [sys.executable, "-P", "-m", "look", "one"]
    done = subprocess.run(command, env={**os.environ, **variables}, input="typed", capture_output=True, text=True)
    seen = json.loads(done.stdout)
    print(json.dumps({**seen, "code": done.returncode, "libraries": "langchain" in seen["modules"]}))
"""


@pytest.mark.parametrize("paths", [(), (str(preloaded.ROOT),)], ids=["of a copy", "of this checkout"])
def test_a_module_that_a_command_starts_without_its_folder_is_forked_too_and_finds_what_a_new_one_would(
    tmp_path: Path, paths: tuple[str, ...]
) -> None:
    modules, folder = tmp_path / "modules", tmp_path / "folder"
    for place, code in ((modules, 7), (folder, 8)):
        place.mkdir()
        (place / "look.py").write_text(f"{LOOK}\nsys.exit({code})")
    environ = variables(PYTHONPATH=os.pathsep.join([*paths, str(modules)]), LC_ALL="C.UTF-8")
    done = preloaded.run(["-c", STARTS_A_MODULE], cwd=folder, env=environ, timeout=SECONDS, leads=True)
    assert done.returncode == 0, done.stderr
    forked, started = map(json.loads, done.stdout.splitlines())
    assert (forked.pop("libraries"), started.pop("libraries")) == (True, False), "PYTHON* is for a start"
    assert started["environ"].pop("PYTHONUTF8") == "1"
    assert forked.pop("modules") != started.pop("modules")
    assert forked == started
    assert (forked["code"], forked["input"], forked["cwd"]) == (7, "typed", str(folder))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_what_stands_by_for_a_fork_server_ends_with_a_command_that_starts_none(
    tmp_path: Path, number: int
) -> None:
    code = (
        "import os, pathlib, sys\n"
        "print(pathlib.Path(f'/proc/self/task/{os.getpid()}/children').read_text(), flush=True)\n"
        "sys.stdin.read()"
    )
    command = preloaded.Forked(
        ["-c", code], cwd=tmp_path, env=variables(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, leads=True
    )
    assert command.stdin is not None
    assert command.stdout is not None
    with command.stdin, command.stdout:
        watched = os.pidfd_open(int(command.stdout.readline()))
        command.send_signal(number)
        assert command.wait(SECONDS) == -number
        ended, _, _ = select.select([watched], [], [], SECONDS)
        os.close(watched)
    assert ended


IMPORTS_TESTS = """
import signal, sys
from tests.preloaded.server import import_tests
import_tests(sys.argv[1:])
print(type(sys.modules["test_whole"].__loader__).__name__, "test_broken" in sys.modules)
print(signal.getsignal(signal.SIGINT).name)
"""


def test_files_of_tests_are_imported_with_their_asserts_rewritten_and_one_that_fails_is_left_out(
    tmp_path: Path,
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:langsmith_plugin -p no:anyio\n")
    (tmp_path / "test_broken.py").write_text("raise RuntimeError")
    (tmp_path / "test_whole.py").write_text("def test_it():\n    assert False\n")
    line = ["-c", IMPORTS_TESTS, str(tmp_path)]
    done = preloaded.run(line, cwd=tmp_path, env=variables(PYTHONPATH=str(preloaded.ROOT)), timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["AssertionRewritingHook False", "SIG_IGN"]

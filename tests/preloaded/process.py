"""Programs as children of the preloaded interpreter, with the shape of `subprocess` and of asyncio's processes.

PYTHON* variables are for an interpreter that starts, so that a program with such ones gets a new interpreter; whoever
depends on something else of a start (`sitecustomize`, the imports) starts one without this module.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from asyncio.base_subprocess import BaseSubprocessTransport
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, ClassVar

ROOT = Path(__file__).resolve().parents[2]
SERVER = Path(__file__).with_name("server.py")
ATTACH = Path(__file__).with_name("attach.py")
ROOMS = ("utils", "agents", "multi_agents", "benchmarks", "tests")
POSSIBLE = hasattr(os, "pidfd_open")
SDK_SPANS = "OTEL_INSTRUMENTATION_A2A_SDK_ENABLED"
"""What the SDK reads when it is imported."""

KEPT = "PRELOADED"
"""Variable of a worker: the descriptors of the two control sockets that it shares."""

DOOR = "PRELOADED_DOOR"
"""Variable of a worker: the path of the socket that `attach.py` connects to."""

_door = [""]
_shared: list[int] = []

FORKED = "tests.preloaded.Forked"
"""The audit event of a program that is started."""

interpreters: list[int] = []
"""Process ids of the interpreters that this process has started."""

IMPORTED_BY_OTHERS = frozenset({"utils.a2a_common.server.serve"})
"""Modules that tests run with `-m` and agents import: run where they are imported already, they would be there twice."""


def take_over() -> None:
    """Have a worker share the interpreters of the run from now on; the variables that say so are of no other process."""
    _door[0] = os.environ.pop(DOOR, _door[0])
    _shared.extend(int(number) for number in os.environ.pop(KEPT, "").split(",") if number)


def forks(env: Mapping[str, str]) -> bool:
    """Whether a fork of the preloaded interpreter is what a new one with these variables would be."""
    theirs = {name for name in env if name.startswith("PYTHON") and env[name] != os.environ.get(name)}
    return POSSIBLE and theirs <= {"PYTHONPATH"} and env.get(SDK_SPANS, "false") == "false"


def is_of_this_checkout(cwd: Path, env: Mapping[str, str]) -> bool:
    """Whether a program imports the project from this checkout, by its variables, and not from a copy where it runs."""
    first = env.get("PYTHONPATH", "").split(os.pathsep)[0]
    return first == str(ROOT) and (cwd == ROOT or not any((cwd / room).exists() for room in ROOMS))


def _sockets() -> tuple[socket.socket, socket.socket]:
    """Our end of a control socket, and that of an interpreter."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    return ours, theirs


def _shared_server(number: int) -> socket.socket:
    control = socket.socket(fileno=_shared[number])
    atexit.register(control.close)
    return control


@cache
def _server() -> socket.socket:
    """The control socket of the interpreter: that of the whole run in a worker, else one that is started on first use."""
    if _shared:
        return _shared_server(0)
    ours, theirs = _sockets()
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environ[SDK_SPANS] = "false"  # as an agent sets it, before it imports the SDK
    with theirs, _listening() as door:
        passed = [theirs.fileno(), door.fileno()]
        command = [sys.executable, str(SERVER), *map(str, passed)]
        process = subprocess.Popen(command, pass_fds=passed, env=environ, stdin=subprocess.DEVNULL)
    interpreters.append(process.pid)

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _listening() -> socket.socket:
    """Where `attach.py` connects, in a folder of its own that goes with this process; its path is `_door[0]`."""
    folder = tempfile.TemporaryDirectory(prefix="preloaded-")
    atexit.register(folder.cleanup)
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    _door[0] = f"{folder.name}/door"
    door.bind(_door[0])
    door.listen(64)
    return door


def attaching() -> list[str]:
    """The beginning of a command line whose rest is `-m MODULE …` or `-c CODE …`, for others than the tests to start.

    What such a program is forked from has imported the libraries and not the project.
    """
    _server()
    return [sys.executable, "-I", "-S", str(ATTACH), _door[0]]


@cache
def _server_with_project() -> socket.socket:
    """The same of the one that has imported the project too, a child of the first."""
    if _shared:
        return _shared_server(1)
    parent = _server()
    return _further_server(parent, str(ROOT), f"{_door[0]}-project")


@cache
def _server_for_workers(*paths: str) -> socket.socket:
    """The same of the one that has imported what tests import, a child of one of the two.

    With paths, it is a child of the one with the project, and has imported the files of tests there.
    """
    return _further_server(_server_with_project() if paths else _server(), "tests", *paths)


def _further_server(parent: socket.socket, *imported: str) -> socket.socket:
    ours, theirs = _sockets()
    code = f"import runpy; runpy.run_path({str(SERVER)!r}, run_name='__main__')"
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with theirs:
        child = Forked(
            ["-c", code, "0", *imported], cwd=ROOT, env=environ, stdin=theirs, serves=True, server=parent
        )
    interpreters.append(child.pid)

    def end() -> None:
        ours.close()
        child.wait()

    atexit.register(end)
    return ours


class Forked:
    """A child; the part of `subprocess.Popen` that asyncio and the tests use.

    Args:
        arguments: `-m MODULE` or `-c CODE`, and the program's arguments.
        cwd: The folder to run in.
        env: All its variables.
        stdin: A descriptor or a file, `subprocess.PIPE` or `subprocess.DEVNULL`; `stdout` and `stderr` too.
        serves: It is another preloaded interpreter.
        leads: The fork server that it may start has imported the libraries too.
        server: The control socket of the interpreter to fork; without one it is chosen by what the program imports.
        kept: Descriptors that the child keeps, under numbers that its variable `PRELOADED` holds.
    """

    live: ClassVar[set[Forked]] = set()
    spent: ClassVar[float] = 0.0
    """Processor seconds of those that have ended, with the processes that they waited for."""

    def __init__(
        self, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str],
        stdin: Any = subprocess.DEVNULL, stdout: Any = subprocess.DEVNULL, stderr: Any = subprocess.DEVNULL,
        serves: bool = False, leads: bool = False, server: socket.socket | None = None, kept: Sequence[int] = (),
    ) -> None:  # fmt: skip
        self.args = list(arguments)
        sys.audit(FORKED, self.args)
        self.returncode: int | None = None
        self.on_end: Callable[[int], None] | None = None
        self.report, theirs = socket.socketpair()
        asked = (stdin, stdout, stderr)
        given, pipes = zip(*(_ends(each, number) for number, each in enumerate(asked)), strict=True)
        self.stdin, self.stdout, self.stderr = pipes
        request = {
            "arguments": self.args,
            "cwd": str(cwd),
            "environ": dict(env),
            "serves": serves,
            "leads": leads,
        }
        server = server or self._server(cwd, env)
        numbers = [one if isinstance(one, int) else one.fileno() for one in given]
        with theirs:
            socket.send_fds(server, [json.dumps(request).encode()], [*numbers, *kept, theirs.fileno()])
        for one, each in zip(given, asked, strict=True):
            if each in {subprocess.PIPE, subprocess.DEVNULL}:
                one.close()
        self._lines = self.report.makefile("rb", 0)  # a line and no more: `select` must see the next one
        self.pid = int(self._lines.readline())
        Forked.live.add(self)

    def _server(self, cwd: Path, env: Mapping[str, str]) -> socket.socket:
        knows_project = is_of_this_checkout(cwd, env) and not IMPORTED_BY_OTHERS.intersection(self.args[:2])
        return _server_with_project() if knows_project else _server()

    def poll(self) -> int | None:
        """Its exit code, once it has ended."""
        if self.returncode is None and select.select([self.report], [], [], 0)[0]:
            self._end()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its exit code.

        Raises:
            subprocess.TimeoutExpired: It still runs.
        """
        if self.returncode is None:
            if not select.select([self.report], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self._end()
        assert self.returncode is not None
        return self.returncode

    def _end(self) -> None:
        code, seconds = (self._lines.readline() or b"%d 0" % -signal.SIGKILL).split()
        self.returncode = int(code)
        Forked.spent += float(seconds)
        Forked.live.discard(self)
        if self.on_end is not None:
            self.on_end(self.returncode)  # before closing: an event loop does not tell of a closed socket
        self._lines.close()
        self.report.close()

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it may end between the two
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


def _ends(asked: Any, number: int) -> tuple[Any, IO[bytes] | None]:
    """What the child gets, and our end of it where it is a pipe."""
    reads = number == 0
    if asked is None:
        return number, None
    if asked == subprocess.DEVNULL:
        return Path(os.devnull).open("rb" if reads else "wb"), None
    if asked != subprocess.PIPE:
        return asked, None
    reading, writing = os.pipe()
    if reads:
        return os.fdopen(reading, "rb"), os.fdopen(writing, "wb", 0)
    return os.fdopen(writing, "wb"), os.fdopen(reading, "rb", 0)


class _Transport(BaseSubprocessTransport):
    """Joins a child to the event loop as asyncio's own transport does."""

    def _start(self, **options: Any) -> None:  # type: ignore[override]
        child = Forked(
            options["args"], cwd=options["cwd"], env=options["env"],
            stdin=options["stdin"], stdout=options["stdout"], stderr=options["stderr"], leads=options["leads"],
        )  # fmt: skip
        self._proc: Any = child
        loop = asyncio.get_running_loop()
        loop.add_reader(child.report, child.poll)

        def ended(code: int) -> None:
            loop.remove_reader(child.report)
            self._process_exited(code)

        child.on_end = ended


async def start(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str],
    stdin: Any = None, stdout: Any = None, stderr: Any = None, leads: bool = False,
) -> asyncio.subprocess.Process:  # fmt: skip
    """As `asyncio.create_subprocess_exec` of this Python with these arguments; `leads` is of `Forked`."""
    if not forks(env):
        return await asyncio.create_subprocess_exec(
            sys.executable, *arguments, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr
        )
    loop = asyncio.get_running_loop()
    protocol = asyncio.subprocess.SubprocessStreamProtocol(limit=2**16, loop=loop)
    ready: asyncio.Future[None] = loop.create_future()
    transport = _Transport(
        loop, protocol, arguments, False, stdin, stdout, stderr, 0,
        waiter=ready, extra=None, cwd=cwd, env=env, leads=leads,
    )  # fmt: skip
    await ready
    return asyncio.subprocess.Process(transport, protocol, loop)


def worker(arguments: Sequence[str], paths: Sequence[str]) -> Forked:
    """A worker of pytest-xdist for the tests at some paths, which shares the interpreters of this process.

    What is to be measured must be imported in the worker, so that it is forked from an interpreter without the project then.
    """
    server = _server_for_workers(*([] if "SLIPCOVER_ENABLED" in os.environ else paths))
    kept = [_server().fileno(), _server_with_project().fileno()]
    pipe, env = subprocess.PIPE, {**os.environ, DOOR: _door[0]}
    return Forked(
        arguments, cwd=Path.cwd(), env=env, stdin=pipe, stdout=pipe, stderr=None, server=server, kept=kept
    )


Running = Forked | subprocess.Popen[bytes]


def popen(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: IO[bytes], leads: bool = False
) -> Running:
    """As `subprocess.Popen` of this Python with these arguments, with its output in a file; `leads` is of `Forked`."""
    if not forks(env):
        return subprocess.Popen([sys.executable, *arguments], cwd=cwd, env=env, stdout=log, stderr=log)
    return Forked(arguments, cwd=cwd, env=env, stdout=log, stderr=log, leads=leads)


def run(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float, leads: bool = False
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` of this Python with these arguments, without input, with its output as text; `leads` is of `Forked`."""
    if not forks(env):
        return subprocess.run(
            [sys.executable, *arguments], cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=timeout, check=False,
        )  # fmt: skip
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = Forked(arguments, cwd=cwd, env=env, stdout=out, stderr=err, leads=leads)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    return subprocess.CompletedProcess(list(arguments), code, *texts)

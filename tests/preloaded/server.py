"""An interpreter that has imported the libraries, and forks a child for each program that it is asked to run.

    python server.py CONTROL_FD LISTENING_FD
    python server.py CONTROL_FD ROOT LISTENING_PATH
    python server.py CONTROL_FD tests PATH...

Importing the libraries is most of what a short program costs. The parent imports and does nothing else: no thread, no
event loop, no setting, and none of the project's own modules, so that a child can run those of a copy of the checkout.
With ROOT it has imported the modules of the project there too, for programs of that checkout; with `tests` what files of
tests import besides, and the files of tests at the paths, for the workers. It is then itself a child of another one, and
ends by its own control socket, after its children.
A request comes over the control socket with four descriptors: standard input, output, error, and a socket that is told
the child's process id and, later, its exit code and processor time. Before the last one there may be others that the child
keeps: their numbers are in its variable `PRELOADED`. The end of the control socket ends every child. `attach.py` asks over a
connection to the listening socket, whose end ends its child alone. What a command line starts as `python -P -m MODULE` asks
there too.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import ctypes
import functools
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIBRARIES = (
    "a2a.client", "a2a.compat.v0_3.types", "a2a.helpers", "a2a.server.request_handlers", "a2a.server.routes",
    "aiosqlite", "anyio._backends._asyncio", "asyncio", "githubkit", "grpc.aio", "httpcore", "httpx", "joserfc.jwk", "langchain.agents", "langchain_core.tools",
    "langchain_mcp_adapters.client", "langchain_openai", "langgraph.checkpoint.memory", "langgraph.checkpoint.sqlite.aio", "langgraph.graph", "mcp",
    "numpy", "opentelemetry.exporter.otlp.proto.http.trace_exporter", "opentelemetry.sdk.trace.export",
    "prometheus_client", "prompt_toolkit", "pydantic", "pypdf", "rich._emoji_codes", "rich.console", "rich.live", "rich.markdown",
    "rich.table", "selectolax.lexbor", "starlette.applications", "structlog", "tiktoken", "tiktoken_ext.openai_public", "tokenizers",
    "typer", "uvicorn", "yaml",
)  # fmt: skip
SHARED = "utils.a2a_common.server.preload"
PROJECT = (
    "agents.github.agent", "agents.rag.agent", "agents.rag.index.embedded", "agents.template.agent",
    "multi_agents.cli.chat.ask", "multi_agents.cli.chat.downloads", "multi_agents.cli.chat.talk", "multi_agents.cli.checkup",
    "multi_agents.cli.commands.chat", "multi_agents.cli.commands.conversations", "multi_agents.cli.commands.doctor",
    "multi_agents.cli.commands.memory", "multi_agents.cli.commands.tasks", "multi_agents.cli.commands.up", "multi_agents.cli.main",
    "multi_agents.cli.peer.connection", "multi_agents.cli.service.service", "multi_agents.platform_engineer.access",
    "multi_agents.platform_engineer.agent", "multi_agents.platform_engineer.delegation",
    "multi_agents.platform_engineer.memory.tools", "multi_agents.platform_engineer.protocol_bindings.a2a.agent_executor",
    "utils.a2a_common.client.delegation.remote_agents", "utils.a2a_common.graph.graph_build",
)  # fmt: skip
"""Most of what the command line, a supervisor and an agent import, besides `SHARED`; none that a test runs with `-m`."""

TESTS = (
    "alembic.command", "anthropic", "boto3", "cryptography.x509", "execnet", "google.genai", "hypothesis", "joserfc.jwt",
    "langchain_aws", "langchain_core.prompts.chat", "langchain_core.vectorstores", "langchain_google_genai", "markdown_it",
    "openai.resources.beta.beta", "playwright.sync_api", "procrastinate", "psycopg_pool", "pygments.lexers", "pytest", "sqlalchemy.ext.asyncio",
)  # fmt: skip
"""Libraries that files of tests import when they are collected, besides `LIBRARIES`."""

ATTACH = Path(__file__).with_name("attach.py")
SDK_SPANS = "OTEL_INSTRUMENTATION_A2A_SDK_ENABLED"
WITHOUT_FOLDER = "-P"
KEPT = "PRELOADED"
FORK_SERVER = "utils.processes.fork_server"
CHANNEL = 2
"""Where the descriptor of its channel stands among its arguments, after `-m` and its name."""

LAST_STANDARD = 2
PR_SET_PDEATHSIG = 1
LARGEST_REQUEST = 1 << 20
MOST_DESCRIPTORS = 8


@dataclass(frozen=True)
class Program:
    """What one child runs: `-m MODULE` or `-c CODE` with its arguments, after `-P` or not, where, and with which variables.

    `serves` marks another such interpreter, which ends by itself; `leads` a command that may start a fork server.
    """

    arguments: list[str]
    cwd: str
    environ: dict[str, str]
    serves: bool = False
    leads: bool = False

    def prepare(self, descriptors: list[int]) -> None:
        """Make this process what a new interpreter would find."""
        for number, given in enumerate(descriptors[:3]):
            os.dup2(given, number)
            os.close(given)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(self.cwd)
        os.environ.clear()
        os.environ.update(self.environ)
        if descriptors[3:]:
            os.environ[KEPT] = ",".join(map(str, descriptors[3:]))
        for kept in descriptors[3:]:
            os.set_inheritable(kept, False)
        paths = [path for path in self.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        if self.arguments[0] == WITHOUT_FOLDER:
            del self.arguments[0]
        else:
            paths.insert(0, self.cwd if self.arguments[0] == "-m" else "")
        sys.path[:0] = paths
        importlib.invalidate_caches()
        sys.stdin = os.fdopen(0, closefd=False)
        sys.stdout = os.fdopen(1, "w", 1 if os.isatty(1) else -1, closefd=False)
        sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)

    def run(self) -> None:
        """Run it as the main module."""
        main = types.ModuleType("__main__")
        main.__dict__["__builtins__"] = __builtins__
        sys.modules["__main__"] = main
        flag, program, *rest = self.arguments
        sys.argv = [flag, *rest]
        if flag == "-m":
            runpy._run_module_as_main(program)  # type: ignore[attr-defined]
        else:
            exec(compile(program, "<string>", "exec"), main.__dict__)


def run_to_the_end(run: Callable[[], None]) -> None:
    """Run a program and end this process as an interpreter ends, but without freeing what it has imported.

    Freeing writes to all the memory that is shared with the parent, which the kernel copies first: a tenth of a second.
    """
    code, interrupted = 0, False
    try:
        run()
    except SystemExit as end:
        code = _told(end.code)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        code, interrupted = 1, isinstance(error, KeyboardInterrupt)
    threading._shutdown()  # type: ignore[attr-defined]  # waits for those that are no daemons
    atexit._run_exitfuncs()
    sys.modules["__main__"].__dict__.clear()
    gc.collect()  # what the program leaves tells of itself: a coroutine that nobody awaited, a socket that is open
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)  # the interpreter tells of it
    if interrupted:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code)


def _told(code: object) -> int:
    """The exit code of a `SystemExit`, whose text is printed."""
    if code is None or isinstance(code, int):
        return (code or 0) & 0xFF
    print(code, file=sys.stderr)
    return 1


class StandBy:
    """A child of a command that becomes its fork server, with the libraries imported, once the command starts one.

    A fork server of its own would import them again, which is most of what `doctor` costs. It must be a child of the
    command, which adopts what it forks, and be forked before the command has a thread or an event loop.
    """

    def __init__(self, pid: int, told: socket.socket) -> None:
        self._pid, self._told = pid, told
        self._start = asyncio.create_subprocess_exec

    @classmethod
    def fork(cls) -> socket.socket | None:
        """Returns in the command at once, and in the child with where it is told what it becomes."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = os.getpid()
        pid = os.fork()
        if pid:
            theirs.close()
            asyncio.create_subprocess_exec = cls(pid, ours).start
            return None
        ours.close()
        os.setsid()
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != command:
            os._exit(1)
        return theirs

    async def start(self, *command: Any, **options: Any) -> Any:
        """As `asyncio.create_subprocess_exec`, but for the first fork server."""
        if FORK_SERVER not in command or self._told.fileno() < 0:
            return await self._start(*command, **options)
        arguments = ["-m", *command[command.index(FORK_SERVER) :]]
        asked = {"arguments": arguments, "cwd": str(Path.cwd()), "environ": dict(options["env"])}
        with self._told, Path(os.devnull).open("rb") as nothing:
            outputs = [options[name].fileno() for name in ("stdout", "stderr")]
            passed = [nothing.fileno(), *outputs, *options["pass_fds"]]
            socket.send_fds(self._told, [json.dumps(asked).encode()], passed)
        adopted: Any = importlib.import_module("utils.processes.adoption").AdoptedProcess(self._pid)
        adopted.kill = functools.partial(os.kill, self._pid, signal.SIGKILL)
        return adopted


def _become(told: socket.socket, descriptors: Sequence[int]) -> Program:
    """Wait until the command, whose descriptors these are, says what to run; ends with the command."""
    for descriptor in descriptors:
        os.close(descriptor)
    while (free := os.open(os.devnull, os.O_RDWR)) <= LAST_STANDARD:
        pass
    os.close(free)
    with told:
        message, received, _, _ = socket.recv_fds(told, LARGEST_REQUEST, MOST_DESCRIPTORS)
    if not message:
        os._exit(0)
    program = Program(**json.loads(message))
    program.arguments[CHANNEL] = str(received.pop())
    program.arguments.insert(0, WITHOUT_FOLDER)
    program.prepare(received)
    return program


def fork_what_it_starts(door: str) -> None:
    """Have this process start as a child of the interpreter that listens there what a new one would run by `-P -m MODULE`."""
    begin = subprocess.Popen.__init__

    def start(self: Any, args: Any, *others: Any, **options: Any) -> None:
        runs_module = isinstance(args, list | tuple) and [*args[:3]] == [sys.executable, WITHOUT_FOLDER, "-m"]
        if runs_module and _is_as_here(options.get("env") or os.environ):
            args = [sys.executable, "-I", "-S", str(ATTACH), door, *args[1:]]
        begin(self, args, *others, **options)

    subprocess.Popen.__init__ = start  # type: ignore[method-assign]


def _is_as_here(env: Mapping[str, str]) -> bool:
    """Whether an interpreter that starts with these variables would be as this one, apart from where it imports from."""
    theirs = {name for name in env if name.startswith("PYTHON") and env[name] != os.environ.get(name)}
    return theirs <= {"PYTHONPATH"} and env.get(SDK_SPANS, "false") == "false"


def import_all(names: Sequence[str]) -> None:
    """Import them, and have the garbage collector leave alone what children share with this process."""
    gc.disable()  # an import makes hardly any garbage, and looking for it is a quarter of its time
    for name in names:
        importlib.import_module(name)
    gc.freeze()
    gc.enable()


def import_tests(paths: Sequence[str]) -> None:
    """Import the files of tests there as pytest does; of one that cannot be imported the workers tell, who try it again."""

    class MakesNoItems:
        @staticmethod
        def pytest_pycollect_makeitem() -> list[object]:
            return []

    pytest = importlib.import_module("pytest")
    with Path(os.devnull).open("w") as nothing, contextlib.redirect_stdout(nothing):
        pytest.main(["--collect-only", "--capture=no", *paths], plugins=[MakesNoItems()])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as before `tests/conftest.py` was imported


class Server:
    """Forks a child for every request.

    Args:
        control: Requests of the tests; with its end everything ends.
        listening: Where others connect.
    """

    def __init__(self, control: socket.socket, listening: socket.socket | None) -> None:
        self._control, self._listening = control, listening
        self._running: dict[int, tuple[int, socket.socket]] = {}
        self._servers: set[int] = set()
        self._connections: dict[socket.socket, int] = {}
        self._selector = selectors.DefaultSelector()
        for each in (control, listening):
            if each is not None:
                self._selector.register(each, selectors.EVENT_READ)

    def serve(self) -> Program:
        """Returns in each child only; the parent exits when the control socket is closed."""
        while True:
            for key, _ in self._selector.select():
                program = self._hear(key.fileobj)
                if program is not None:
                    return program

    def _hear(self, spoke: Any) -> Program | None:
        if self._listening is not None and spoke is self._listening:
            connection, _ = self._listening.accept()
            self._connections[connection] = 0
            self._selector.register(connection, selectors.EVENT_READ)
        elif isinstance(spoke, socket.socket):
            return self._asked(spoke)
        else:
            self._selector.unregister(spoke)
            pid, report = self._running.pop(spoke)
            self._connections.update({each: 0 for each, its in self._connections.items() if its == pid})
            _report(pid, report)
            os.close(spoke)
        return None

    def _asked(self, asker: socket.socket) -> Program | None:
        message, descriptors, _, _ = socket.recv_fds(asker, LARGEST_REQUEST, MOST_DESCRIPTORS)
        if not message:
            self._lost(asker)
            return None
        program = Program(**json.loads(message))
        pid = os.fork()
        if pid == 0:
            told = StandBy.fork() if program.leads else None
            door = self._listening.getsockname() if self._listening is not None else ""
            self._leave(descriptors)
            if told is not None:
                return _become(told, descriptors)
            if program.leads and door:
                fork_what_it_starts(door)
            program.prepare(descriptors)
            return program
        report = socket.socket(fileno=descriptors.pop())
        for descriptor in descriptors:
            os.close(descriptor)
        with contextlib.suppress(OSError):  # who asked has ended
            report.sendall(b"%d\n" % pid)
        if program.serves:
            self._servers.add(pid)
        if asker in self._connections:
            self._connections[asker] = pid
        child = os.pidfd_open(pid)
        self._running[child] = (pid, report)
        self._selector.register(child, selectors.EVENT_READ)
        return None

    def _lost(self, asker: socket.socket) -> None:
        if asker is self._control:
            for pid, _ in self._running.values():
                if pid not in self._servers:
                    os.kill(pid, signal.SIGKILL)
            raise SystemExit
        self._selector.unregister(asker)
        asker.close()
        pid = self._connections.pop(asker)
        if pid:
            os.kill(pid, signal.SIGKILL)

    def _leave(self, descriptors: list[int]) -> None:
        """Close in a child what is the parent's."""
        self._selector.close()
        self._control.close()
        if self._listening is not None:
            self._listening.close()
        os.close(descriptors.pop())
        for connection in self._connections:
            connection.close()
        for child, (_, report) in self._running.items():
            os.close(child)
            report.close()


def _report(pid: int, report: socket.socket) -> None:
    _, status, used = os.wait4(pid, 0)
    seconds = used.ru_utime + used.ru_stime
    with contextlib.suppress(OSError):  # nobody waits any more
        report.sendall(b"%d %.6f\n" % (os.waitstatus_to_exitcode(status), seconds))
    report.close()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests
    sys.path.pop(0)
    import_all(LIBRARIES)
    what, door = sys.argv[2], None
    if what == "tests":
        import_all(TESTS)
        if sys.argv[3:]:
            import_tests(sys.argv[3:])
    elif what.isdecimal():
        door = socket.socket(fileno=int(what))
    else:
        sys.path.insert(0, what)
        import_all([*importlib.import_module(SHARED).SHARED_MODULES, *PROJECT])
        sys.path.pop(0)
        door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        door.bind(sys.argv[3])
        door.listen()
    run_to_the_end(Server(socket.socket(fileno=int(sys.argv[1])), door).serve().run)

"""An interpreter that has imported the libraries, and forks a child for each program that it is asked to run.

    python server.py CONTROL_FD [ROOT]

Importing the libraries is most of what a short program costs. The parent imports and does nothing else: no thread, no
event loop, no setting, and none of the project's own modules, so that a child can run those of a copy of the checkout.
With ROOT it has imported the modules of the project there too, for programs of that checkout. It is then itself a child
of the first one, and ends by its own control socket, after its children.
A request comes over the control socket with four descriptors: standard input, output, error, and a socket that is told
the child's process id and, later, its exit code. The end of the control socket ends every child.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

LIBRARIES = (
    "a2a.client", "a2a.compat.v0_3.types", "a2a.helpers", "a2a.server.request_handlers", "a2a.server.routes",
    "aiosqlite", "anyio._backends._asyncio", "asyncio", "githubkit", "grpc.aio", "httpcore", "httpx", "langchain.agents", "langchain_core.tools",
    "langchain_mcp_adapters.client", "langchain_openai", "langgraph.checkpoint.memory", "langgraph.checkpoint.sqlite.aio", "langgraph.graph", "mcp",
    "numpy", "opentelemetry.exporter.otlp.proto.http.trace_exporter", "opentelemetry.sdk.trace.export",
    "prometheus_client", "prompt_toolkit", "pydantic", "pypdf", "rich.console", "rich.live", "rich.markdown",
    "rich.table", "selectolax.lexbor", "starlette.applications", "structlog", "tiktoken", "tiktoken_ext.openai_public", "tokenizers",
    "typer", "uvicorn", "yaml",
)  # fmt: skip
SHARED = "utils.a2a_common.server.preload"
PROJECT = (
    "agents.github.agent", "agents.rag.agent", "agents.template.agent", "multi_agents.cli.commands.doctor",
    "multi_agents.cli.main", "multi_agents.cli.service.service", "multi_agents.platform_engineer.agent",
    "multi_agents.platform_engineer.protocol_bindings.a2a.agent_executor", "utils.a2a_common.graph.graph_build",
)  # fmt: skip
"""Most of what the command line, a supervisor and an agent import, besides `SHARED`; none that a test runs with `-m`."""

LARGEST_REQUEST = 1 << 20


@dataclass(frozen=True)
class Program:
    """What one child runs: `-m MODULE` or `-c CODE` with its arguments, where, and with which variables.

    `serves` marks another such interpreter, which ends by itself.
    """

    arguments: list[str]
    cwd: str
    environ: dict[str, str]
    serves: bool = False

    def prepare(self, descriptors: list[int]) -> None:
        """Make this process what a new interpreter would find."""
        for number, given in enumerate(descriptors):
            os.dup2(given, number)
            os.close(given)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(self.cwd)
        os.environ.clear()
        os.environ.update(self.environ)
        here = self.cwd if self.arguments[0] == "-m" else ""
        paths = [path for path in self.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        sys.path[:0] = [here, *paths]
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


def import_all(names: Sequence[str]) -> None:
    """Import them, and have the garbage collector leave alone what children share with this process."""
    for name in names:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


def serve(control: socket.socket) -> Program:
    """Fork a child for every request. Returns in each child only; the parent exits when the socket is closed."""
    running: dict[int, tuple[int, socket.socket]] = {}
    servers: set[int] = set()
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is not control:
                    selector.unregister(key.fd)
                    _report(*running.pop(key.fd))
                    os.close(key.fd)
                    continue
                message, descriptors, _, _ = socket.recv_fds(control, LARGEST_REQUEST, 4)
                if not message:
                    for pid, _ in running.values():
                        if pid not in servers:
                            os.kill(pid, signal.SIGKILL)
                    raise SystemExit
                program = Program(**json.loads(message))
                pid = os.fork()
                if pid == 0:
                    break
                report = socket.socket(fileno=descriptors.pop())
                for descriptor in descriptors:
                    os.close(descriptor)
                report.sendall(b"%d\n" % pid)
                if program.serves:
                    servers.add(pid)
                child = os.pidfd_open(pid)
                running[child] = (pid, report)
                selector.register(child, selectors.EVENT_READ)
            else:
                continue
            break
    return _in_the_child(program, control, descriptors, running)


def _in_the_child(
    program: Program, control: socket.socket, descriptors: list[int], running: dict[int, Any]
) -> Program:
    control.close()
    os.close(descriptors.pop())
    for child, (_, report) in running.items():
        os.close(child)
        report.close()
    program.prepare(descriptors)
    return program


def _report(pid: int, report: socket.socket) -> None:
    _, status = os.waitpid(pid, 0)
    with contextlib.suppress(OSError):  # nobody waits any more
        report.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
    report.close()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests
    sys.path.pop(0)
    import_all(LIBRARIES)
    if sys.argv[2:]:
        sys.path.insert(0, sys.argv[2])
        import_all([*importlib.import_module(SHARED).SHARED_MODULES, *PROJECT])
        sys.path.pop(0)
    serve(socket.socket(fileno=int(sys.argv[1]))).run()

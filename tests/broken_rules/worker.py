"""Runs tests in forks of a process that has imported the libraries already: seconds a run instead of many.

It takes orders from its standard input, a line of JSON each: `{"arguments": […], "output": FILE}`, and
answers with the exit code of pytest, or -1 where it did not end in time. None of the project's own
modules is imported before the fork, since each run tests other ones.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import time
import warnings
from pathlib import Path

SECONDS = 240.0
"""Longest run: the tests of a break have time-outs of their own, below this."""

_PAUSE = 0.02
_NOT_YET = (
    "pytest",
    "_pytest",
    "hypothesis",
    "_hypothesis",
    "anyio",
    "langsmith",
    "grpc",
    "onnxruntime",
    "tests",
)
"""What pytest must import itself, and what starts threads that a fork would lose."""


def libraries(modules: dict[str, object], root: Path) -> list[str]:
    """Names among imported modules that belong to neither the project nor to pytest, in order of import."""
    kept = []
    for name, module in modules.items():
        file = getattr(module, "__file__", None)
        ours = file is None or (Path(file).is_relative_to(root) and "site-packages" not in file)
        if not ours and not name.startswith(_NOT_YET) and name != "__main__":
            kept.append(name)
    return kept


def _preload(listed: Path) -> None:
    warnings.simplefilter("ignore")
    for name in json.loads(listed.read_text("utf-8")):
        with contextlib.suppress(ImportError, AttributeError):
            importlib.import_module(name)
    warnings.resetwarnings()


def _in_child(arguments: list[str], output: str) -> None:
    os.setsid()
    with Path(os.devnull).open("rb") as silent, Path(output).open("wb") as printed:
        os.dup2(silent.fileno(), 0)
        os.dup2(printed.fileno(), 1)
        os.dup2(printed.fileno(), 2)
    import pytest

    sys.argv = ["pytest", *arguments]
    code = pytest.main(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(code))


def _run(arguments: list[str], output: str) -> int:
    child = os.fork()
    if child == 0:
        try:
            _in_child(arguments, output)
        finally:
            os._exit(70)
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_PAUSE)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


def main() -> None:
    """Serve until standard input ends."""
    # As utils.a2a_common sets it, which is not imported here.
    os.environ["OTEL_INSTRUMENTATION_A2A_SDK_ENABLED"] = "false"
    _preload(Path(sys.argv[1]))
    for line in sys.stdin:
        order = json.loads(line)
        print(_run(order["arguments"], order["output"]), flush=True)


if __name__ == "__main__":
    main()

"""Pytest plugin that forks the workers of pytest-xdist from a preloaded interpreter.

Each worker would import the libraries, the project, what else the tests need and the files of tests, which is three quarters
of what collecting costs, and would start preloaded interpreters of its own. All of them share those of the run instead.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import execnet.gateway_io
import pytest
from execnet.gateway_base import Popen2IO

from tests.preloaded import process

FEWEST = 3
"""Workers from which on it pays: two of them are collecting before the interpreter has imported all of it."""


class ForkedIO(Popen2IO):
    """What execnet knows of the process of a worker, as its `Popen2IOMaster`."""

    paths: ClassVar[list[str]] = []
    """Where the tests of the run are."""

    def __init__(self, arguments: Sequence[str], execmodel: Any) -> None:
        self.popen = process.worker(arguments[arguments.index("-c") :], self.paths)
        assert self.popen.stdin is not None
        assert self.popen.stdout is not None
        writing = io.BufferedWriter(self.popen.stdin)
        super().__init__(writing, self.popen.stdout, execmodel=execmodel)

    def wait(self) -> int:
        """Wait for its end."""
        return self.popen.wait()

    def kill(self) -> None:
        """End it."""
        self.popen.kill()


def pytest_configure() -> None:
    process.take_over()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence[Any]) -> None:
    """Have execnet start the workers this way."""
    if len(specs) >= FEWEST and process.forks(os.environ):
        ForkedIO.paths = sorted({str(Path(each.partition("::")[0]).resolve()) for each in config.args})
        execnet.gateway_io.Popen2IOMaster = ForkedIO  # type: ignore[misc, assignment]

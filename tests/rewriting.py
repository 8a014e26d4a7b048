"""Pytest plugin: workers that collect for the first time divide the work of rewriting asserts.

Pytest rewrites a file where it is imported first and keeps the result beside it. Workers that begin at the same file all
rewrite every file, since none is done when the others come to it: in a fresh checkout that is half of what collecting costs.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest


def turned(files: Sequence[Path], worker: int, workers: int) -> list[Path]:
    """All of them, each worker's own share first and that of the next worker after it.

    Args:
        files: What is to be imported, in the same order in each worker.
        worker: Its number, from 0.
        workers: How many there are.
    """
    start = len(files) * worker // workers
    return [*files[start:], *files[:start]]


@pytest.hookimpl
def pytest_collection(session: pytest.Session) -> None:
    """Import the files of tests in this worker's order, before pytest asks for them in its own."""
    known: dict[str, Any] | None = getattr(session.config, "workerinput", None)
    if known is None:
        return
    number, workers = int(known["workerid"].removeprefix("gw")), int(known["workercount"])
    for path in turned(_files(session.config), number, workers):
        name = ".".join(path.relative_to(session.config.rootpath).with_suffix("").parts)
        with suppress(Exception, pytest.skip.Exception):  # collecting it says so
            importlib.import_module(name)


def _files(config: pytest.Config) -> list[Path]:
    """Those of the folders that are to be collected; a file that is named alone is imported soon enough."""
    folders = [config.invocation_params.dir / each for each in config.args]
    return sorted({path for folder in folders if folder.is_dir() for path in folder.rglob("test_*.py")})

"""Processor time of a command and of everything that it started, also of what outlived its parent."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from utils.processes.adoption import adopting


def cpu_seconds(command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> float:
    """User and system time until the last descendant has ended.

    Raises:
        subprocess.CalledProcessError: The command failed; its output says why.
    """
    before = _used()
    with adopting():  # so that orphans are waited for, and their time is counted
        subprocess.run(command, check=True, capture_output=True, cwd=folder, env=dict(environ))
        _wait_for_all()
    return _used() - before


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _wait_for_all() -> None:
    try:
        while True:
            os.wait()
    except ChildProcessError:
        return

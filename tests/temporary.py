"""Puts the folders of tests in memory where there is room: each task that a test stores waits for the disk several times."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
VARIABLES = ("PYTEST_DEBUG_TEMPROOT", "TMPDIR")
NEEDED = 6 * 1024**3
"""Bytes: containers have 64 MB there."""


def put_in_memory() -> None:
    """Have pytest make `tmp_path` there, and others temporary folders, here and in what this starts, unless told where."""
    if MEMORY.is_dir() and _has_room() and _runs_programs() and os.access(MEMORY, os.W_OK):
        for variable in VARIABLES:
            os.environ.setdefault(variable, str(MEMORY))
        tempfile.tempdir = None  # it is looked up again


def _has_room() -> bool:
    return shutil.disk_usage(MEMORY).free >= NEEDED


def _runs_programs() -> bool:
    return not os.statvfs(MEMORY).f_flag & getattr(os, "ST_NOEXEC", 0)

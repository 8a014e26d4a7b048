"""What large messages took goes back to the system."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

KEEPS_SMALL_BLOCKS = """
import sys
from pathlib import Path
from utils.processes.freed_memory import return_freed_memory

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

if "set" in sys.argv:
    return_freed_memory()
size, kept = 4_000_000, []
del [b"x" * size for _ in range(2)][:]
before = resident()
for _ in range(5):
    large = []
    for _ in range(10):
        large.append(b"x" * size)
        kept.append(b"y" * 50_000)
    del large
print((resident() - before) // size)
"""


def left(*arguments: str) -> int:
    """How many of ten large blocks at a time are still with a process that has freed them and kept small ones."""
    command = [sys.executable, "-c", KEEPS_SMALL_BLOCKS, *arguments]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="The setting is of glibc.")
def test_a_process_that_freed_large_blocks_does_not_keep_them() -> None:
    assert left("set") < 2
    assert left() >= 5  # what happens without it

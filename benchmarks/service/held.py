"""What a process holds, as only it can count: `python -m benchmarks.service.held MODULE ARGUMENT…` runs a module that tells it.

Resident memory alone does not tell a leak from an allocator that keeps freed pages. Here a garbage collection runs, the C
allocator gives back what it can (`malloc_trim`), and then what is still in use is counted. The module's process writes the counts
as JSON to the file that the variable `BENCHMARK_HELD` names, followed by its process id, at each SIGUSR1.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import runpy
import signal
import sys
from pathlib import Path
from typing import NamedTuple

HELD = "BENCHMARK_HELD"
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Held(NamedTuple):
    """What is in use after a garbage collection.

    Attributes:
        blocks: Memory blocks of Python, of any size.
        heap_kilobytes: What the C allocator has handed out: the messages of protobuf, SQLite, larger objects of Python.
        kilobytes: Resident memory, after the C allocator gave back what it could.
    """

    blocks: int
    heap_kilobytes: int
    kilobytes: int

    def minus(self, base: Held) -> Held:
        """What is held more than before."""
        return Held(*(now - then for now, then in zip(self, base, strict=True)))

    def __str__(self) -> str:
        return f"{self.blocks:8d} blocks, {self.heap_kilobytes / 1024:6.1f} MB of the C heap, {self.kilobytes / 1024:6.1f} MB resident"


class _Mallinfo(ctypes.Structure):
    _names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in _names.split()]


def held() -> Held:
    """What this process holds now. Only with glibc the last two are exact."""
    gc.collect()
    libc = ctypes.CDLL(None)
    heap = 0
    if hasattr(libc, "mallinfo2"):
        libc.mallinfo2.restype = _Mallinfo
        found = libc.mallinfo2()
        heap = (found.uordblks + found.hblkhd) // 1024
        libc.malloc_trim(0)
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE // 1024
    return Held(sys.getallocatedblocks(), heap, resident)


def held_file(pid: int, pattern: str) -> Path:
    """Where a process writes its counts."""
    return Path(f"{pattern}.{pid}")


def _tell(*_: object) -> None:
    path = held_file(os.getpid(), os.environ[HELD])
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.write_text(json.dumps(held()))
    unfinished.rename(path)


def main() -> None:
    """Run the module that the first argument names."""
    signal.signal(signal.SIGUSR1, _tell)
    module = sys.argv[1]
    sys.argv = [module, *sys.argv[2:]]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()

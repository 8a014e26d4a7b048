"""Lets the memory of large messages go back to the system as soon as it is freed."""

from __future__ import annotations

import ctypes
import sys

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
"""Numbers of `mallopt` in glibc's malloc.h."""

OWN_PAGES = 1024**2
"""Bytes from which on a block has pages of its own. glibc begins with 128 KiB and raises that to the largest block that was freed,
up to 32 MiB: copies of messages then lie among small blocks, and what is free between them stays with the process."""

ARENAS = 2
"""Heaps of all threads. glibc makes eight for each processor, each with free memory of its own."""


def return_freed_memory() -> None:
    """Set the allocator of this process so; nothing where it is not glibc's."""
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, OWN_PAGES)
        mallopt(_ARENA_MAX, ARENAS)

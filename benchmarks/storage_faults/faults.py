"""The faults, each from outside: a lock, a full file system, damaged pages."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

PAGE = 4096
SPARE = 64 * 1024


async def hold_write_lock(path: Path, seconds: float) -> None:
    """Keep everybody else from writing a database for so long."""
    with closing(
        sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    ) as database:
        await asyncio.to_thread(database.execute, "BEGIN IMMEDIATE")
        await asyncio.sleep(seconds)


@contextmanager
def small_file_system(folder: Path, megabytes: int) -> Iterator[bool]:
    """A file system of that size at the folder; whether this process may mount one."""
    folder.mkdir(exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)],
        check=False,
        capture_output=True,
    )
    try:
        yield mounted.returncode == 0
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", "-l", str(folder)], check=False)


@contextmanager
def filled(folder: Path) -> Iterator[None]:
    """For the length of the block there is no free byte."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(SPARE))
        except OSError:
            pass
        try:
            while True:
                file.write(bytes(512))
        except OSError:
            pass
    try:
        yield
    finally:
        ballast.unlink()


def damage_pages(path: Path, count: int, seed: int) -> list[int]:
    """Overwrite so many pages of a database, the first where it is one alone; which."""
    pages = path.stat().st_size // PAGE
    chosen = [1] if count == 1 else random.Random(seed).sample(range(2, pages + 1), min(count, pages - 1))
    with path.open("r+b") as file:
        for page in chosen:
            file.seek((page - 1) * PAGE)
            file.write(random.Random(seed + page).randbytes(PAGE))
    return sorted(chosen)

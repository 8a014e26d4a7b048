"""A lent folder is as it was, whatever a test did in it."""

from __future__ import annotations

import os
from pathlib import Path

from tests.lent import LentFolder


def everything(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    found = {}
    for path in sorted(folder.rglob("*")):
        held = path.read_bytes() if path.is_file() else b""
        status = path.lstat()
        found[str(path.relative_to(folder))] = (held, status.st_mode, status.st_mtime_ns * path.is_file())
    return found


def a_folder(at: Path) -> Path:
    (at / "room" / "inner").mkdir(parents=True)
    (at / "kept.py").write_text("kept = 1")
    (at / "room" / "door.py").write_text("door = 1")
    (at / "room" / "inner" / "lock.py").write_text("lock = 1")
    (at / "link").symlink_to(at.parent)
    return at


def test_what_was_added_changed_or_removed_is_as_it_was(tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "lent")
    lent, before = LentFolder(folder), everything(folder)
    for _ in range(2):
        (folder / "new").mkdir()
        (folder / "new" / "file").write_text("x")
        (folder / "room" / "other.py").write_text("x")
        (folder / "room" / "inner" / "lock.py").unlink()
        (folder / "room" / "inner").rmdir()
        (folder / "kept.py").chmod(0o600)
        (folder / "room" / "door.py").write_text("door = 2")
        lent.restore()
        assert everything(folder) == before


def test_a_change_of_the_same_size_that_hides_its_time_is_seen(tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "lent")
    lent, before = LentFolder(folder), everything(folder)
    door = folder / "room" / "door.py"
    times = door.stat().st_mtime_ns
    door.write_text("door = 2")
    os.utime(door, ns=(times, times))
    lent.restore()
    assert everything(folder) == before


def test_bytecode_of_a_module_that_stays_is_kept_and_that_of_a_new_one_goes(tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "lent")
    lent = LentFolder(folder)
    (folder / "room" / "__pycache__").mkdir()
    (folder / "room" / "__pycache__" / "door.pyc").write_bytes(b"x")
    (folder / "new" / "__pycache__").mkdir(parents=True)
    lent.restore()
    assert (folder / "room" / "__pycache__" / "door.pyc").exists()
    assert not (folder / "new").exists()

"""Keeps the files and folders of an agent readable by their owner alone: they contain what users say."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

OTHERS = 0o077
"""Permission bits of the group and of others."""

LOGS = "logs"
"""The folder in the home for the agents' logs of `up` and `chat`."""

_COMMON = (LOGS, "run.json", "run.lock", "chat_history")
"""Files and folders in the home besides the agents' folders."""


def keep_files_private() -> None:
    """Set the umask of this process and its children, so that others cannot read new files. Call once, at the entry point."""
    if sys.platform != "win32":
        os.umask(OTHERS)


def make_private(home: Path, *agents: str) -> int:
    """Remove the permissions of group and others from the home, its shared files, and the folders of these agents.

    Nothing else in it is changed. Links are not followed.

    Returns:
        How many paths could not be changed, because another user owns them, such as the root of a mounted volume.
    """
    roots = (home / name for name in (*_COMMON, *agents))
    paths = [home, *(path for root in roots for path in _under(root))]
    return sum(not _make_one_private(path) for path in paths)


def _make_one_private(path: Path) -> bool:
    """Remove the permissions of group and others from one path; return whether they have none now.

    A shared folder with the sticky bit, such as /tmp, is left unchanged.
    """
    if sys.platform == "win32":
        return True
    try:
        mode = path.lstat().st_mode
        if mode & OTHERS and not mode & stat.S_ISVTX and not stat.S_ISLNK(mode):
            path.chmod(stat.S_IMODE(mode) & ~OTHERS)
    except FileNotFoundError:  # SQLite deletes its side files when it closes a database
        return True
    except OSError:
        return False
    return True


def _under(folder: Path) -> Iterator[Path]:
    yield folder
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield Path(parent, name)

"""What people say is nobody else's: the files and folders of an agent are its owner's alone."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

OTHERS = 0o077
"""The rights of the group and of everybody."""

LOGS = "logs"
"""The folder of the home that `up` and `chat` keep the agents' logs in."""

_COMMON = (LOGS, "run.json", "run.lock", "chat_history")
"""What stands in the home beside the agents' folders."""


def keep_files_private() -> None:
    """Let this process, and those that it starts, make no file that others may read. Call once, at the edge."""
    if sys.platform != "win32":
        os.umask(OTHERS)


def make_private(home: Path, *agents: str) -> int:
    """Take the rights of others from the home, from what all agents share in it, and from these agents' folders.

    Nothing else in it is touched. Links are not followed.

    Returns:
        How many paths could not be changed: they belong to somebody else, as the root of a mounted volume may.
    """
    ours = (home / name for name in (*_COMMON, *agents))
    paths = [home, *(path for one in ours for path in _under(one))]
    return sum(not _make_one_private(path) for path in paths)


def _make_one_private(path: Path) -> bool:
    """Take the rights of others from one file or folder; whether they have none now.

    A folder that everybody shares (with the sticky bit, such as /tmp) is left as it is.
    """
    if sys.platform == "win32":
        return True
    try:
        mode = path.lstat().st_mode
        if mode & OTHERS and not mode & stat.S_ISVTX and not stat.S_ISLNK(mode):
            path.chmod(stat.S_IMODE(mode) & ~OTHERS)
    except FileNotFoundError:  # SQLite takes its files beside a database away when it closes
        return True
    except OSError:
        return False
    return True


def _under(folder: Path) -> Iterator[Path]:
    yield folder
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield Path(parent, name)

"""How many files this process may have open: every connection is one."""

from __future__ import annotations

import sys

import structlog

from utils.errors import SettingsError

log = structlog.get_logger(__name__)

WANTED = 65_536
"""Files that are asked for: more than the limits of this service need, and few enough for programs that look at each number."""

FEW = 4_096
"""Files below which it is said: twice `MAX_CONNECTIONS` as it is by default, and as many again for databases and sub-agents."""

LEAST = 256
"""Files below which nothing starts: a supervisor has about 75 open without a connection, and connections may take half of the limit."""

NO_LIMIT = 0


def open_files() -> int:
    """Files that this process may have open; `NO_LIMIT` where nothing bounds them."""
    return _limits()[0]


def allowed_files() -> int:
    """Files that it may have open once `raise_open_files` has asked for them; `NO_LIMIT` where nothing bounds them."""
    soft, hard = _limits()
    return soft if soft == NO_LIMIT else max(soft, min(hard or WANTED, WANTED))


def raise_open_files() -> None:
    """Let this process open as many files as it is allowed to, up to `WANTED`; says so where these are few.

    Raises:
        SettingsError: They are so few that it could take no connection.
    """
    files, wanted = open_files(), allowed_files()
    if files != wanted and _raised(wanted):
        files = wanted
    if 0 < files < LEAST:
        raise SettingsError(
            "ulimit -n",
            f"This process may open {files} files, and needs at least {LEAST}. Raise the limit of open files: ulimit -n {FEW}",
        )
    if 0 < files < FEW:
        log.warning(
            "process.few_files",
            files=files,
            effect="fewer connections are taken than MAX_CONNECTIONS says; raise the limit of open files (ulimit -n)",
        )


def _limits() -> tuple[int, int]:
    """The limit that holds, and the one up to which it can be raised."""
    if sys.platform == "win32":
        return NO_LIMIT, NO_LIMIT
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    endless = resource.RLIM_INFINITY
    return NO_LIMIT if soft == endless else soft, NO_LIMIT if hard == endless else hard


def _raised(wanted: int) -> bool:
    """Whether the limit could be raised."""
    if sys.platform == "win32":
        return False
    import resource

    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    except (OSError, ValueError):  # some systems have a limit of their own below the one that they name
        return False
    return True

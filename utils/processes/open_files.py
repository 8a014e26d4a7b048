"""How many files this process may have open: every connection is one."""

from __future__ import annotations

import sys

import structlog

log = structlog.get_logger(__name__)

WANTED = 65_536
"""Files that are asked for: more than the limits of this service need, and few enough for programs that look at each number."""

FEW = 4_096
"""Files below which it is said: twice `MAX_CONNECTIONS` as it is by default, and as many again for databases and sub-agents."""


def raise_open_files() -> None:
    """Let this process open as many files as it is allowed to, up to `WANTED`; says so where these are few."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED if hard == resource.RLIM_INFINITY else min(hard, WANTED)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):  # some systems have a limit of their own below the one that they name
            wanted = soft
        soft = wanted
    if soft != resource.RLIM_INFINITY and soft < FEW:
        log.warning(
            "process.few_files",
            files=soft,
            effect="fewer connections are taken than MAX_CONNECTIONS says; raise the limit of open files (ulimit -n)",
        )

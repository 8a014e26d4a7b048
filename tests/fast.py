"""Holds `make test-fast` to what it says: a test that starts a process is red there until it is marked `processes`."""

from __future__ import annotations

import sys
import threading

STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"}


def forbid_processes() -> None:
    """Refuse every start of a process in this one, from now on; it cannot be taken back."""

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if event in STARTS:
            raise RuntimeError(
                f"{event} {arguments[:1]} in {threading.current_thread().name}: a test that starts a process"
                " is marked `processes`"
            )

    sys.addaudithook(refuse)

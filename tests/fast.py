"""Holds `make test-fast` to what it says: a test that starts a process or listens on a port is red there until it is marked."""

from __future__ import annotations

import sys
import threading

from tests.preloaded.process import FORKED

STARTS = {FORKED, "subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"}


def forbid_processes_and_servers() -> None:
    """Refuse every start of a process in this one, and every port, from now on; it cannot be taken back."""

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if event in STARTS:
            raise RuntimeError(
                f"{event} {arguments[:1]} in {threading.current_thread().name}: a test that starts a process"
                " is marked `processes`"
            )
        if event == "socket.bind" and isinstance(arguments[1], tuple):  # a path is no port
            raise RuntimeError(
                f"{event} {arguments[1]} in {threading.current_thread().name}: a test that listens is marked"
                " `listens`, and a fixture that does asks for the fixture of that name"
            )

    sys.addaudithook(refuse)

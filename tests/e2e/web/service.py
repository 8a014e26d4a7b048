"""The whole service with the offline model and the double of GitHub, which can be killed and started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agents.github.testing.server import run_github_server
from tests.e2e.cli.command import CLI, ROOT, environment
from tests.ports import free_port

START_SECONDS = 120.0


class Service:
    """`platform-engineer up` on a port that stays its own."""

    def __init__(self, home: Path, github: str, **environ: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = home / "up.log"
        self._home = home
        self._environment = environment(
            home,
            GITHUB_API_URL=github,
            GITHUB_TOKEN="a-token-of-the-double",
            GITHUB_WRITE="true",
            EMBEDDINGS_PROVIDER="none",
            SUB_AGENT_WAIT_SECONDS="60",
            **environ,
        )
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, *CLI, "up", "--port", str(self.port)],
                cwd=ROOT,
                env=self._environment,
                stdout=log,
                stderr=log,
            )
        end = time.monotonic() + START_SECONDS
        while b"The service is up" not in self._log.read_bytes():
            assert self._process.poll() is None, self._log.read_text()
            assert time.monotonic() < end, self._log.read_text()
            time.sleep(0.05)

    def kill(self) -> None:
        """Without a word: the command, the supervisor and the agents."""
        assert self._process is not None
        started = _children(self._process.pid)
        self._process.send_signal(signal.SIGKILL)
        for pid in started:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        end = time.monotonic() + START_SECONDS
        while _listens(self.port):
            assert time.monotonic() < end, "the supervisor outlives its service"
            time.sleep(0.05)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(60)


def _children(pid: int) -> list[int]:
    """The processes that a process started, and those that they did."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    own = [int(child) for task in tasks for child in task.read_text().split()]
    return own + [below for child in own for below in _children(child)]


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def whole_service(home: Path, **environ: str) -> Iterator[Service]:
    with run_github_server(pulls=8) as github:
        service = Service(home, github.url, **environ)
        service.start()
        try:
            yield service
        finally:
            service.stop()

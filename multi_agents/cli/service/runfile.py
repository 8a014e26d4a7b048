"""The run file: the addresses of the running service. A lock beside it shows whether it still runs.

The lock belongs to the process that started the service and goes when that process ends in any
way, so a run file without a held lock is a leftover.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from multi_agents.cli.errors import unwritable_home
from utils.atomic_file import replace_file


@dataclass(frozen=True, slots=True)
class RunningAgent:
    """One agent of the running service. `pid` is 0 for an agent that runs elsewhere."""

    name: str
    url: str
    pid: int = 0


@dataclass(frozen=True, slots=True)
class News:
    """A line about the service for everyone who uses it. Numbers grow by one."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class RunningService:
    """The content of the run file.

    Attributes:
        pid: The process of the service.
        agents: Its agents, the supervisor first.
        news: Its latest news.
        agents_file: Absolute path of the list that it was started with; empty where `SUB_AGENTS` replaced it.
    """

    pid: int
    agents: tuple[RunningAgent, ...]
    news: tuple[News, ...] = ()
    agents_file: str = ""

    @property
    def supervisor(self) -> RunningAgent:
        """The agent that people talk to."""
        return self.agents[0]


class RunFile:
    """`run.json` and `run.lock` in one folder."""

    def __init__(self, home: Path) -> None:
        self.path = home / "run.json"
        self._lock_path = home / "run.lock"
        self._lock: IO[str] | None = None

    def acquire(self) -> bool:
        """Take the lock; `False` if another process holds it. A run file that exists then is a leftover.

        Raises:
            StorageError: The folder cannot be written.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock = self._lock_path.open("a")
        except OSError as error:
            raise unwritable_home(self.path.parent, error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return False
        self._lock = lock
        self.path.unlink(missing_ok=True)
        return True

    def release(self) -> None:
        """Remove the run file and let go of the lock, if this process holds it."""
        if self._lock is not None:
            self.path.unlink(missing_ok=True)
            self._lock.close()
            self._lock = None

    def write(self, service: RunningService) -> None:
        """Replace the run file in one step: a reader sees the old one or the new one.

        Raises:
            StorageError: It cannot be written.
        """
        replace_file(self.path, json.dumps(asdict(service)).encode())

    def read(self) -> RunningService | None:
        """The running service; `None` when none runs or it is still starting."""
        if not self.is_held():
            return None
        try:
            return _parse(json.loads(self.path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def is_held(self) -> bool:
        """Whether a living process holds the service."""
        try:
            with self._lock_path.open("r") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False


def _parse(value: Mapping[str, Any]) -> RunningService | None:
    agents = tuple(
        RunningAgent(str(one["name"]), str(one["url"]), int(one["pid"])) for one in value["agents"]
    )
    news = tuple(News(int(one["number"]), str(one["text"])) for one in value.get("news", ()))
    file = str(value.get("agents_file", ""))
    return RunningService(int(value["pid"]), agents, news, file) if agents else None

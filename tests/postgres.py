"""A PostgreSQL server for tests: started once for a session of tests, on loopback; each test has a database of its own.

The fixture `postgres` of `tests/conftest.py` is one. `PARAMETER` adds PostgreSQL to the stores that a fixture goes through.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.ports import free_port
from utils.persistence.settings import DatabaseSettings

if TYPE_CHECKING:
    from utils.persistence.postgres.pool import PostgresPool

AGENT = "test"
"""The agent of databases that need only one."""

PARAMETER = pytest.param("postgresql", marks=[pytest.mark.servers, pytest.mark.timeout(300)])

ENCRYPTED = pytest.param("postgresql-encrypted", marks=[pytest.mark.servers, pytest.mark.timeout(300)])
"""The same, behind what encrypts."""

_USER = "postgres"
_DEBIAN = Path("/usr/lib/postgresql")
_FAST = (
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "max_connections=200",
    "max_wal_size=64MB",
)
START_SECONDS = 120


@dataclass(slots=True)
class PostgresServer:
    """A server of its own, which a test may stop and start.

    Attributes:
        folder: Its data and its log.
        port: Where it listens on loopback.
        programs: Folder of its programs; those that are installed where unset.
    """

    folder: Path
    port: int
    programs: Path | None = None
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _templates: dict[str, str] = field(default_factory=dict)

    def url(self, database: str = _USER) -> str:
        """The address of a database."""
        return f"postgresql://{_USER}@127.0.0.1:{self.port}/{database}"

    def new_database(self, template: str = "template1") -> str:
        """Create a database; return its address."""
        name = f"test_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Delete a database, also while somebody is connected to it: each takes eight megabytes of the disk."""
        self.execute(f"DROP DATABASE {url.rpartition('/')[2]} WITH (FORCE)")

    def settings(self, url: str, **others: str) -> DatabaseSettings:
        """The settings of a process that uses a database."""
        return DatabaseSettings.load({"DATABASE_URL": url, "DATABASE_CONNECT_SECONDS": "60", **others})

    @asynccontextmanager
    async def opened(
        self, agent: str = AGENT, own: Path | None = None, **others: str
    ) -> AsyncIterator[PostgresPool]:
        """Connections to a new database with the tables of an agent."""
        from utils.persistence.postgres.pool import PostgresPool

        url = await self.migrated(agent, own)
        pool = PostgresPool(self.settings(url, **others), agent=agent)
        await pool.open()
        try:
            yield pool
        finally:
            await pool.close()
            self.drop_database(url)

    async def migrated(self, agent: str = AGENT, own: Path | None = None) -> str:
        """A new database with the tables of an agent: a copy of one that is made once."""
        if agent not in self._templates:
            from utils.a2a_common.server.commands.database import further_tables
            from utils.persistence.postgres.migrate import upgrade
            from utils.persistence.postgres.pool import PostgresPool

            url = self.new_database()
            pool = PostgresPool(self.settings(url), agent=agent)
            await pool.open()
            await upgrade(pool, agent, further_tables(own))
            await pool.close()
            self._templates[agent] = url.rpartition("/")[2]
        return self.new_database(self._templates[agent])

    def execute(self, statement: str, url: str = "") -> list[tuple[object, ...]]:
        """Run one statement; return what it selects."""
        import psycopg

        with psycopg.connect(url or self.url(), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def files_of(self, url: str) -> Path:
        """The folder with the tables of a database, apart from those of other tests on this server."""
        ((number,),) = self.execute("SELECT oid FROM pg_database WHERE datname = current_database()", url)
        return self.folder / "data" / "base" / str(number)

    @property
    def write_ahead_log(self) -> Path:
        """The folder with the write-ahead log of all databases."""
        return self.folder / "data" / "pg_wal"

    def start(self) -> None:
        """Start it and wait until it answers."""
        settings = " ".join(f"-c {setting}" for setting in _FAST)
        listening = f"-h 127.0.0.1 -p {self.port} -k {self.folder} {settings}"
        self._control("start", "-o", listening, "-l", str(self.folder / "log"), "-t", str(START_SECONDS))

    def stop(self) -> None:
        """Stop it at once, as a crash or a fail-over does for its clients."""
        self._control("stop", "-m", "fast")

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Let it neither answer nor close a connection, as on a machine that hangs; its port still takes connections."""
        processes = self._processes()
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGCONT)

    def _processes(self) -> list[int]:
        """The first process of the server, and those that it has started. It goes first: what stands still starts no others."""
        first = int((self.folder / "data" / "postmaster.pid").read_text().splitlines()[0])
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return [first, *map(int, children)]

    def _control(self, verb: str, *options: str) -> None:
        _run([_program("pg_ctl", self.programs), "-D", str(self.folder / "data"), "-w", *options, verb])


@contextmanager
def running_server(programs: Path | None = None) -> Iterator[PostgresServer]:
    """A new server, gone with the block; `programs` is the folder of its programs where it is not the installed one.

    Raises:
        RuntimeError: PostgreSQL is not installed.
    """
    folder = Path(tempfile.mkdtemp(prefix="pe-postgres-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, _USER)
        options = ["-A", "trust", "-U", _USER, "-E", "UTF8", "--locale=C", "--no-sync"]
        _run([_program("initdb", programs), "-D", str(folder / "data"), *options])
        server = PostgresServer(folder, free_port(), programs)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _program(name: str, folder: Path | None) -> str:
    """A program of PostgreSQL: in a folder, on the PATH, or where Debian puts it."""
    if folder is not None:
        return str(folder / name)
    versions = sorted(_DEBIAN.glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]), reverse=True)
    found = shutil.which(name) or (str(versions[0]) if versions else None)
    if found is None:
        raise RuntimeError("PostgreSQL is not installed: `apt-get install postgresql`.")
    return found


def _run(command: Sequence[str]) -> None:
    """Run a program of the server, as the user `postgres` where this is root, which PostgreSQL refuses."""
    user = _USER if os.geteuid() == 0 else None
    folder = pwd.getpwnam(_USER).pw_dir if user else None
    done = subprocess.run(
        command,
        user=user,
        group=user,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,  # the server inherits it: a pipe would stay open
        stderr=subprocess.DEVNULL,
        timeout=START_SECONDS,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{Path(command[0]).name} ended with {done.returncode}")

"""`--postgres`: the agents that tests start keep their data in PostgreSQL, a database for each test.

For suites that know nothing of it. A test that looks into a SQLite file, or starts processes of its own, does not work so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import pytest

from tests.postgres import PostgresServer
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.tasks.log import TaskLog
from utils.persistence.postgres.migrate import upgrade
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.postgres.task_log import PostgresTaskLogStore
from utils.persistence.settings import DatabaseSettings


class _OwnPool(PostgresTaskLogStore):
    """A store that opens and closes its connections."""

    def __init__(self, settings: DatabaseSettings) -> None:
        self._settings = settings
        self._own = PostgresPool(settings, agent="scripted")
        super().__init__(self._own)

    async def open(self) -> None:
        """Connect, and make the tables."""
        await self._own.open()
        await upgrade(self._own, "scripted")

    async def close(self) -> None:
        """Disconnect."""
        await self._own.close()


class _Settings:
    """Reads settings as `AgentSettings` does, with a database."""

    def __init__(self, url: Callable[[], str]) -> None:
        self._url = url

    def load(self, environ: Mapping[str, str]) -> AgentSettings:
        """The settings of an agent."""
        return AgentSettings.load({"DATABASE_URL": self._url(), "DATABASE_CONNECT_SECONDS": "60", **environ})


@pytest.fixture(autouse=True)
def _in_postgres(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what the test starts keep its data in a database of its own."""
    url = cache(postgres.new_database)
    monkeypatch.setattr("utils.testing.live_agent.AgentSettings", _Settings(url))
    monkeypatch.setattr(
        "tests.e2e.wire.wiring.memory_log", lambda: TaskLog(_OwnPool(postgres.settings(url())))
    )

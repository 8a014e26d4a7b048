"""Stores push configurations in SQLite."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

from a2a.server.context import ServerCallContext
from a2a.server.tasks import InMemoryPushNotificationConfigStore
from a2a.server.tasks.push_notification_config_store import normalize_push_notification_config
from a2a.types.a2a_pb2 import TaskPushNotificationConfig

from utils.persistence.database import Database

_SCHEMA = """
CREATE TABLE IF NOT EXISTS push_configs (
    owner TEXT NOT NULL, task_id TEXT NOT NULL, id TEXT NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (owner, task_id, id)
) WITHOUT ROWID
"""

_PRIVATE = 0o600
"""The file holds the webhooks' credentials: only its owner may read it."""


class SqlitePushConfigs(InMemoryPushNotificationConfigStore):
    """Configurations by owner and task in a SQLite file that one process writes.

    All are held in memory too: they are asked for with every event of every task.
    """

    def __init__(self, path: Path, owner_of: Callable[[ServerCallContext], str]) -> None:
        super().__init__(owner_resolver=owner_of)
        self._path = path
        self._owner_of = owner_of
        self._database = Database(path, _SCHEMA)

    async def open(self) -> None:
        """Read what is stored.

        Raises:
            StorageError: The file cannot be opened.
        """
        await asyncio.to_thread(_made_private, self._path)
        await self._database.open()
        rows = await self._database.read(_all)
        for owner, task_id, body in rows:
            tasks = self._push_notification_infos.setdefault(owner, {})
            tasks.setdefault(task_id, []).append(TaskPushNotificationConfig.FromString(body))

    async def close(self) -> None:
        """Write what waits and close the file."""
        await self._database.close()

    async def set_info(
        self, task_id: str, notification_config: TaskPushNotificationConfig, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        """Keep a configuration of the caller's task.

        Raises:
            StorageError: It cannot be written; it is not in use then.
        """
        stored = normalize_push_notification_config(task_id, notification_config)
        row = (self._owner_of(context), task_id, stored.id, stored.SerializeToString())
        statement = "INSERT OR REPLACE INTO push_configs VALUES (?, ?, ?, ?)"
        await self._database.write(lambda db: _nothing(db.execute(statement, row)))
        return await super().set_info(task_id, stored, context)

    async def delete_info(
        self, task_id: str, context: ServerCallContext, config_id: str | None = None
    ) -> None:
        """Forget one configuration of the caller's task, or all of them.

        Raises:
            StorageError: It cannot be written.
        """
        condition = "owner = ? AND task_id = ?" + (" AND id = ?" if config_id is not None else "")
        values = (self._owner_of(context), task_id, *([config_id] if config_id is not None else []))
        statement = f"DELETE FROM push_configs WHERE {condition}"  # noqa: S608 - of the two lines above
        await self._database.write(lambda db: _nothing(db.execute(statement, values)))
        await super().delete_info(task_id, context, config_id)


def _all(db: sqlite3.Connection) -> list[tuple[str, str, bytes]]:
    return db.execute("SELECT owner, task_id, body FROM push_configs").fetchall()


def _nothing(_: sqlite3.Cursor) -> None:
    """A write that has no result."""


def _made_private(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=_PRIVATE)

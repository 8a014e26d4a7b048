"""Stores the webhooks of tasks, and up to which event of its task each was sent."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from a2a.server.tasks.push_notification_config_store import normalize_push_notification_config
from a2a.types.a2a_pb2 import TaskPushNotificationConfig

from utils.a2a_common.protocol.version import CURRENT
from utils.a2a_common.server.push.stored import restored, stored
from utils.encryption.codec import PLAIN, Codec
from utils.encryption.errors import StorageUnreadable
from utils.persistence.database import Database
from utils.persistence.encrypted import places
from utils.persistence.sqlite_file import MemoryFile, SqliteFile

_SCHEMA = """
CREATE TABLE IF NOT EXISTS push_configs (
    owner TEXT NOT NULL, task_id TEXT NOT NULL, id TEXT NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (owner, task_id, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS push_sent (
    owner TEXT NOT NULL, task_id TEXT NOT NULL, id TEXT NOT NULL, sequence INTEGER NOT NULL,
    PRIMARY KEY (owner, task_id, id)
) WITHOUT ROWID;
"""

_PRIVATE = 0o600
"""The file holds the webhooks' credentials: only its owner may read it."""


@dataclass(slots=True, eq=False)
class Webhook:
    """A stored configuration.

    Attributes:
        owner: Key of the task's owner.
        config: Where to send, with the credentials.
        sent: The last event of the task that was sent, or given up; `None` where nothing more is sent: the task's end
            was, or the webhook is deleted or replaced.
        version: The protocol version that it was registered in, and is told in.
    """

    owner: str
    config: TaskPushNotificationConfig
    sent: int | None = None
    version: str = CURRENT

    def is_like(self, other: Webhook) -> bool:
        """Whether both say the same, whatever was sent."""
        return (self.config, self.version) == (other.config, other.version)


class PushConfigs:
    """Webhooks in memory. They are asked for with every turn, and there are few."""

    def __init__(self) -> None:
        self._webhooks: dict[tuple[str, str], dict[str, Webhook]] = {}
        self._on_found: Callable[[Webhook], None] | None = None

    def tell(self, on_found: Callable[[Webhook], None]) -> None:
        """Let `on_found` be called with each webhook that another process stored, once this one knows of it."""
        self._on_found = on_found

    async def open(self) -> None:
        """Nothing to open."""

    async def close(self) -> None:
        """Nothing to close."""

    async def put(
        self,
        task_id: str,
        owner: str,
        config: TaskPushNotificationConfig,
        *,
        after: int,
        version: str = CURRENT,
    ) -> TaskPushNotificationConfig:
        """Store a configuration, in the place of another with the same id; events up to `after` are not sent.

        One that is stored already stays as it is, with what it was sent: the message that brought it may come again.
        """
        webhook = Webhook(owner, normalize_push_notification_config(task_id, config), after, version)
        if not self._has(webhook):
            self._keep(webhook)
        return webhook.config

    def _has(self, webhook: Webhook) -> bool:
        """Whether a configuration is stored as it is."""
        known = self._webhooks.get((webhook.owner, webhook.config.task_id), {}).get(webhook.config.id)
        return known is not None and known.is_like(webhook)

    async def delete(self, task_id: str, owner: str, config_id: str) -> None:
        """Forget a configuration."""
        webhooks = self._webhooks.get((owner, task_id), {})
        gone = webhooks.pop(config_id, None)
        if gone is not None:
            gone.sent = None
        if not webhooks:
            self._webhooks.pop((owner, task_id), None)

    async def note_sent(self, webhook: Webhook, sequence: int | None) -> None:
        """Note the last event that was sent to a webhook; `None` for the end of its task."""
        webhook.sent = sequence

    def of_task(self, task_id: str, owner: str) -> Sequence[TaskPushNotificationConfig]:
        """The configurations of the owner's task."""
        return [webhook.config for webhook in self.webhooks(task_id, owner)]

    def webhooks(self, task_id: str, owner: str) -> list[Webhook]:
        """The webhooks of the owner's task."""
        return list(self._webhooks.get((owner, task_id), {}).values())

    def all_webhooks(self) -> list[Webhook]:
        """The webhooks of all tasks."""
        return [webhook for of_task in self._webhooks.values() for webhook in of_task.values()]

    def alone(self, webhook: Webhook) -> AbstractAsyncContextManager[None]:
        """Wait until no other process sends to a webhook; none can here."""
        del webhook
        return nullcontext()

    def unfinished(self) -> list[tuple[str, str]]:
        """Id and owner of the tasks with a webhook that was not sent their end."""
        return [
            (task_id, owner)
            for (owner, task_id), webhooks in self._webhooks.items()
            if any(webhook.sent is not None for webhook in webhooks.values())
        ]

    def _keep(self, webhook: Webhook) -> None:
        webhooks = self._webhooks.setdefault((webhook.owner, webhook.config.task_id), {})
        replaced = webhooks.get(webhook.config.id)
        if replaced is not None:
            replaced.sent = None
        webhooks[webhook.config.id] = webhook


class SqlitePushConfigs(PushConfigs):
    """Webhooks in a SQLite file that one process writes, and in memory. `codec` encrypts where they are sent."""

    def __init__(self, path: SqliteFile, codec: Codec = PLAIN) -> None:
        super().__init__()
        self._codec = codec
        self._path = path
        self._database = Database(path, _SCHEMA)

    async def open(self) -> None:
        """Read what is stored.

        Raises:
            StorageError: The file cannot be opened.
        """
        await asyncio.to_thread(_made_private, self._path)
        await self._database.open()
        await self._load()

    async def _load(self) -> None:
        for webhook in readable(await self._database.read(_all), self._codec):
            self._keep(webhook)

    async def close(self) -> None:
        """Write what waits and close the file."""
        await self._database.close()

    async def put(
        self,
        task_id: str,
        owner: str,
        config: TaskPushNotificationConfig,
        *,
        after: int,
        version: str = CURRENT,
    ) -> TaskPushNotificationConfig:
        """Store a configuration.

        Raises:
            StorageError: It cannot be written; it is not in use then.
        """
        webhook = Webhook(owner, normalize_push_notification_config(task_id, config), after, version)
        if self._has(webhook):
            return webhook.config
        key = (owner, task_id, webhook.config.id)
        body = self._codec.encrypt(stored(webhook.config, version), places.webhook(*key))
        await self._write(
            ("INSERT OR REPLACE INTO push_configs VALUES (?, ?, ?, ?)", (*key, body)),
            (_NOTE, (*key, after)),
        )
        return await super().put(task_id, owner, webhook.config, after=after, version=version)

    async def delete(self, task_id: str, owner: str, config_id: str) -> None:
        """Forget a configuration.

        Raises:
            StorageError: It cannot be written.
        """
        key = (owner, task_id, config_id)
        await self._write(
            ("DELETE FROM push_configs WHERE owner = ? AND task_id = ? AND id = ?", key), (_FORGET, key)
        )
        await super().delete(task_id, owner, config_id)

    async def note_sent(self, webhook: Webhook, sequence: int | None) -> None:
        """Note the last event that was sent.

        Raises:
            StorageError: It cannot be written: it is sent again after a restart.
        """
        await super().note_sent(webhook, sequence)
        key = (webhook.owner, webhook.config.task_id, webhook.config.id)
        await self._write((_FORGET, key) if sequence is None else (_NOTE, (*key, sequence)))

    async def _write(self, *statements: tuple[str, tuple[object, ...]]) -> None:
        def write(db: sqlite3.Connection) -> None:
            for statement, values in statements:
                db.execute(statement, values)

        await self._database.write(write)


_NOTE = "INSERT OR REPLACE INTO push_sent VALUES (?, ?, ?, ?)"
_FORGET = "DELETE FROM push_sent WHERE owner = ? AND task_id = ? AND id = ?"


def readable(rows: Iterable[tuple[Any, ...]], codec: Codec) -> Iterator[Webhook]:
    """The webhooks of rows of owner, task, id, body and what was sent; one that cannot be read keeps no other one from its task.

    What it is that cannot be read is logged where it is decrypted.
    """
    for owner, task_id, config_id, body, sent in rows:
        with suppress(StorageUnreadable):
            config, version = restored(codec.decrypt(bytes(body), places.webhook(owner, task_id, config_id)))
            yield Webhook(owner, config, sent, version)


def _all(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
    query = "SELECT owner, task_id, id, body, sequence FROM push_configs LEFT JOIN push_sent USING (owner, task_id, id)"
    return db.execute(query).fetchall()


def _made_private(path: SqliteFile) -> None:
    if isinstance(path, MemoryFile):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=_PRIVATE)

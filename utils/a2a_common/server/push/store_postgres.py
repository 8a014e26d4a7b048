"""Stores the webhooks of tasks in PostgreSQL, and up to which event of its task each was sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from a2a.server.tasks.push_notification_config_store import normalize_push_notification_config
from a2a.types.a2a_pb2 import TaskPushNotificationConfig

from utils.a2a_common.protocol.version import CURRENT
from utils.a2a_common.server.push.store import PushConfigs, Webhook, readable
from utils.a2a_common.server.push.stored import restored, stored
from utils.cancellation import end_tasks
from utils.encryption.codec import PLAIN, Codec, Place
from utils.encryption.errors import StorageUnreadable
from utils.errors import StorageError
from utils.persistence.encrypted import places
from utils.persistence.postgres.names import lock_number
from utils.supervised import followed

if TYPE_CHECKING:
    from utils.persistence.postgres.pool import Connection, PostgresPool

_ALL = "SELECT owner, task_id, id, body, sent FROM push_configs"
_ADD = """
INSERT INTO push_configs (owner, task_id, id, body, sent) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (owner, task_id, id) DO NOTHING
"""
_BODY = "SELECT body FROM push_configs WHERE owner = %s AND task_id = %s AND id = %s"
_REPLACE = "UPDATE push_configs SET body = %s, sent = %s WHERE owner = %s AND task_id = %s AND id = %s"
_OF_TASK = "SELECT owner, task_id, id, body, sent FROM push_configs WHERE task_id = %s"
_SENT = "SELECT sent FROM push_configs WHERE owner = %s AND task_id = %s AND id = %s"
_CHANNEL = "push_configs"
_NOTE = "UPDATE push_configs SET sent = %s WHERE owner = %s AND task_id = %s AND id = %s"
_DELETE = "DELETE FROM push_configs WHERE owner = %s AND task_id = %s AND id = %s"


_Key = tuple[str, str, str]


class PostgresPushConfigs(PushConfigs):
    """Webhooks in the table `push_configs` of an agent's schema, and in the memory of each of its processes."""

    def __init__(self, pool: PostgresPool, codec: Codec = PLAIN) -> None:
        super().__init__()
        self._codec = codec
        self._db = pool
        self._listening: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Read what is stored.

        Raises:
            StorageError: The database failed.
        """

        async def read(db: Connection) -> list[Any]:
            return await (await db.execute(_ALL)).fetchall()

        for webhook in readable(await self._db.run(read), self._codec):
            self._keep(webhook)
        changes = partial(self._db.listen, _CHANNEL)
        # a new connection says first that all is to be read
        listen = followed("webhooks", changes, self._read_again, foreseen=(StorageError,))
        self._listening = asyncio.create_task(listen)

    async def close(self) -> None:
        """Listen no more. Safe to call twice."""
        if self._listening is not None:
            await end_tasks([self._listening])

    async def _read_again(self, task_id: str) -> None:
        """Read the webhooks of one task, or of all; what is changed here meanwhile is newer than what was read."""

        async def read(db: Connection) -> list[Any]:
            if task_id:
                return await (await db.execute(_OF_TASK, (task_id,))).fetchall()
            return await (await db.execute(_ALL)).fetchall()

        before = self._known(task_id)
        rows = await self._db.run(read)
        found_now = {
            (one.owner, one.config.task_id, one.config.id): one for one in readable(rows, self._codec)
        }
        now = self._known(task_id)
        for key in sorted(before.keys() | found_now.keys()):
            known, found = now.get(key), found_now.get(key)
            if known is not before.get(key):
                continue
            if found is None:
                await super().delete(key[1], key[0], key[2])
            elif known is None or not known.is_like(found):
                self._keep(found)
                if self._on_found is not None:
                    self._on_found(found)

    def _known(self, task_id: str) -> dict[_Key, Webhook]:
        return {
            (hook.owner, hook.config.task_id, hook.config.id): hook
            for hook in self.all_webhooks()
            if task_id in ("", hook.config.task_id)
        }

    @asynccontextmanager
    async def alone(self, webhook: Webhook) -> AsyncIterator[None]:
        """Wait until no other process sends to a webhook, and go on from what was sent, where that can be read."""
        key = (webhook.owner, webhook.config.task_id, webhook.config.id)
        async with self._db.locks.held(lock_number(self._db.schema, "push", *key)):

            async def read(db: Connection) -> Any:
                return await (await db.execute(_SENT, key)).fetchone()

            with suppress(StorageError):
                row = await self._db.run(read)
                if webhook.sent is not None:
                    webhook.sent = row[0] if row else None
            yield

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
        key = (owner, task_id, webhook.config.id)
        place = places.webhook(*key)
        body = self._codec.encrypt(stored(webhook.config, version), place)

        async def put(db: Connection) -> None:
            if (await db.execute(_ADD, (*key, body, after))).rowcount == 0:
                known: Any = await (await db.execute(_BODY, key)).fetchone()
                if known is not None and self._is(known[0], webhook, place):
                    return
                await db.execute(_REPLACE, (body, after, *key))
            await self._db.notify(db, _CHANNEL, task_id)

        await self._db.run(put)
        return await super().put(task_id, owner, webhook.config, after=after, version=version)

    async def delete(self, task_id: str, owner: str, config_id: str) -> None:
        """Forget a configuration.

        Raises:
            StorageError: It cannot be written.
        """

        async def delete(db: Connection) -> None:
            await db.execute(_DELETE, (owner, task_id, config_id))
            await self._db.notify(db, _CHANNEL, task_id)

        await self._db.run(delete)
        await super().delete(task_id, owner, config_id)

    def _is(self, body: bytes, webhook: Webhook, place: Place) -> bool:
        """Whether this is stored of a configuration; what cannot be read is not."""
        with suppress(StorageUnreadable):
            return restored(self._codec.decrypt(bytes(body), place)) == (webhook.config, webhook.version)
        return False

    async def note_sent(self, webhook: Webhook, sequence: int | None) -> None:
        """Note the last event that was sent.

        Raises:
            StorageError: It cannot be written: it is sent again after a restart.
        """
        await super().note_sent(webhook, sequence)
        await self._db.execute(_NOTE, (sequence, webhook.owner, webhook.config.task_id, webhook.config.id))

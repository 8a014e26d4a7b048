"""Webhooks: the product's own store of them over a database in memory, and the servers that hear their notifications."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import httpx
from a2a.types.a2a_pb2 import StreamResponse, TaskPushNotificationConfig
from google.protobuf.json_format import Parse

from benchmarks.simulate.facts import Heard, Hook
from benchmarks.simulate.faulty_store import Link
from benchmarks.simulate.memory_database import memory_database
from benchmarks.simulate.sql_pool import SqlPool
from benchmarks.simulate.view import seen_of
from utils.a2a_common.protocol.version import CURRENT
from utils.a2a_common.server.push import store as push_store
from utils.a2a_common.server.push.body import Notification
from utils.a2a_common.server.push.delivery import PushDelivery, PushPolicy
from utils.a2a_common.server.push.store import PushConfigs, SqlitePushConfigs
from utils.a2a_common.server.push.store_postgres import PostgresPushConfigs

if TYPE_CHECKING:
    from benchmarks.simulate.setting import Setting

T = TypeVar("T")

ADDRESS = "https://93.184.216.34/hook"


def webhook(name: str) -> TaskPushNotificationConfig:
    """The configuration of a webhook."""
    return TaskPushNotificationConfig(id=name, url=ADDRESS)


MOST_REFUSED = 3
"""Tries of one notification that a webhook may refuse or not confirm; the product tries once more."""


def hook_table() -> sqlite3.Connection:
    """An empty database of webhooks."""
    database = memory_database()
    database.executescript(push_store._SCHEMA)  # noqa: SLF001 - the product's own tables
    return database


class LinkedDatabase:
    """A database that all processes of a schedule share, as one of them reaches it."""

    def __init__(self, database: sqlite3.Connection, link: Link) -> None:
        self._database = database
        self._link = link

    async def close(self) -> None:
        """Nothing to close."""

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Read."""

        async def done() -> T:
            return work(self._database)

        answer: T = await self._link.call("get", done)
        return answer

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Change something; all of `work` or nothing."""

        async def done() -> T:
            self._database.execute("BEGIN")
            try:
                result = work(self._database)
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")
            return result

        answer: T = await self._link.call("note", done)
        return answer


class NotedHooks(PushConfigs):
    """Webhooks of one process; `changed` is told the name and the task of each that it stores or deletes, and which of both."""

    _changed: Callable[[str, str, bool], None]

    async def put(
        self,
        task_id: str,
        owner: str,
        config: TaskPushNotificationConfig,
        *,
        after: int,
        version: str = CURRENT,
    ) -> TaskPushNotificationConfig:
        """Store a configuration."""
        stored = await super().put(task_id, owner, config, after=after, version=version)
        self._changed(config.id, task_id, True)
        return stored

    async def delete(self, task_id: str, owner: str, config_id: str) -> None:
        """Forget a configuration: it is gone in the database before a process that dies now would know."""
        self._changed(config_id, task_id, False)
        await super().delete(task_id, owner, config_id)


class StoredHooks(NotedHooks, SqlitePushConfigs):
    """The webhooks of one process, over a file that one process after the other opens.

    Args:
        database: The database.
        link: The way to it.
        changed: See the base class.
    """

    def __init__(
        self, database: sqlite3.Connection, link: Link, changed: Callable[[str, str, bool], None]
    ) -> None:
        super().__init__(Path())
        linked: Any = LinkedDatabase(database, link)
        self._database = linked
        self._changed = changed

    async def open(self) -> None:
        """Read what is stored."""
        await self._load()


class SharedHooks(NotedHooks, PostgresPushConfigs):
    """The webhooks of one process, over a database that all processes have open."""

    def __init__(self, pool: SqlPool, changed: Callable[[str, str, bool], None]) -> None:
        linked: Any = pool
        super().__init__(linked)
        self._changed = changed
        self._pool = pool

    async def close(self) -> None:
        """Listen no more, and close what the process has open beside it."""
        await super().close()
        await self._pool.locks.close()


class Receivers:
    """The servers of all webhooks: slow, refusing, or without a confirmation, but never for too many tries in a row."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._refused: dict[tuple[str, bytes], int] = {}
        self._fails = setting.lots.choice((0.0, 0.0, 0.3))
        self._hooks: dict[tuple[str, str], Hook] = {}

    def hook(self, name: str, task: str) -> Hook:
        """The webhook of a task."""
        if (name, task) not in self._hooks:
            self._hooks[name, task] = Hook(name, task)
            self._setting.facts.hooks.append(self._hooks[name, task])
        return self._hooks[name, task]

    async def post(self, process: str, config: TaskPushNotificationConfig, body: bytes) -> int:
        """One try of a notification; its status."""
        name = config.id
        lots = self._setting.lots
        await asyncio.sleep(lots.choice((0.0, 0.0, 0.02, 1.0)))
        failed = self._refused.get((process + name, body), 0)
        fails = self._setting.faults.on and lots.random() < self._fails and failed < MOST_REFUSED
        if fails:
            self._refused[process + name, body] = failed + 1
            if lots.random() < 0.5:
                return int(httpx.codes.SERVICE_UNAVAILABLE)
        event = Parse(body, StreamResponse())
        seen = seen_of(getattr(event, event.WhichOneof("payload") or ""))
        self._setting.trace.note(name, f"hears from {process}: {str(seen)[:70]}")
        self.hook(name, config.task_id).heard.append(Heard(process, seen))
        if fails:
            raise httpx.ReadError("the connection broke before the answer came")
        return int(httpx.codes.OK)


class SimulatedDelivery(PushDelivery):
    """The product's delivery, to the simulated servers."""

    def __init__(self, policy: PushPolicy, process: str, receivers: Receivers) -> None:
        super().__init__(policy)
        self._process = process
        self._receivers = receivers

    async def _post(self, config: TaskPushNotificationConfig, told: Notification) -> int:
        return await self._receivers.post(self._process, config, told.body)

"""Webhooks in PostgreSQL that are changed while a process reads what others have changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from a2a.types.a2a_pb2 import TaskPushNotificationConfig

from tests.postgres import PostgresServer
from utils.a2a_common.server.push.store_postgres import PostgresPushConfigs
from utils.persistence.postgres.pool import PostgresPool

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

Work = Callable[[Any], Awaitable[Any]]


class SlowPool:
    """A pool whose answers to the readings of one task are late.

    Attributes:
        late: Whether they are.
        read: Set when one has been read.
        go_on: Lets it be answered.
    """

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool
        self.late = False
        self.read, self.go_on = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    async def run(self, work: Work) -> Any:
        answer = await self._pool.run(work)
        if self.late and work.__name__ == "read":
            self.read.set()
            await self.go_on.wait()
        return answer


def config(url: str) -> TaskPushNotificationConfig:
    return TaskPushNotificationConfig(id="w", task_id="t", url=url)


@pytest.fixture
async def slow(postgres: PostgresServer) -> AsyncIterator[SlowPool]:
    async with postgres.opened() as pool:
        yield SlowPool(pool)


@pytest.fixture
async def configs(slow: SlowPool) -> AsyncIterator[PostgresPushConfigs]:
    made: Any = PostgresPushConfigs(slow)  # type: ignore[arg-type]
    yield made
    await made.close()


async def reading(configs: PostgresPushConfigs, slow: SlowPool) -> asyncio.Task[None]:
    """A reading that has read, and has not been answered yet."""
    slow.late = True
    task = asyncio.create_task(configs._read_again("t"))
    await slow.read.wait()
    return task


async def test_a_webhook_that_is_put_meanwhile_is_kept(configs: PostgresPushConfigs, slow: SlowPool) -> None:
    async with asyncio.timeout(60):
        read = await reading(configs, slow)
        await configs.put("t", "ann", config("https://example.com/new"), after=0)
        slow.go_on.set()
        await read
    assert [each.url for each in configs.of_task("t", "ann")] == ["https://example.com/new"]


async def test_a_webhook_that_is_replaced_meanwhile_stays_replaced(
    configs: PostgresPushConfigs, slow: SlowPool
) -> None:
    await configs.put("t", "ann", config("https://example.com/old"), after=0)
    async with asyncio.timeout(60):
        read = await reading(configs, slow)
        await configs.put("t", "ann", config("https://example.com/new"), after=0)
        slow.go_on.set()
        await read
    assert [each.url for each in configs.of_task("t", "ann")] == ["https://example.com/new"]


async def test_a_webhook_that_is_deleted_meanwhile_stays_deleted(
    configs: PostgresPushConfigs, slow: SlowPool
) -> None:
    await configs.put("t", "ann", config("https://example.com/old"), after=0)
    async with asyncio.timeout(60):
        read = await reading(configs, slow)
        await configs.delete("t", "ann", "w")
        slow.go_on.set()
        await read
    assert list(configs.of_task("t", "ann")) == []


async def test_what_another_process_puts_and_deletes_is_known(
    configs: PostgresPushConfigs, slow: SlowPool
) -> None:
    other: Any = PostgresPushConfigs(slow)  # type: ignore[arg-type]
    await other.put("t", "ann", config("https://example.com/old"), after=0)
    await configs._read_again("t")
    assert [each.url for each in configs.of_task("t", "ann")] == ["https://example.com/old"]
    await other.delete("t", "ann", "w")
    await configs._read_again("")
    assert list(configs.of_task("t", "ann")) == []
    await other.close()

"""What the SDK holds of a task while it is worked on."""

from __future__ import annotations

import asyncio

import pytest
from a2a.server.context import ServerCallContext
from a2a.utils.errors import TaskNotFoundError

from tests.e2e.wire.agents import Scripted, echo
from utils.a2a_common.active_tasks import TidyRegistry
from utils.a2a_common.request_handler import PlatformRequestHandler
from utils.a2a_common.scope import owner_of
from utils.persistence.tasks import memory_task_store


async def test_a_task_that_cannot_be_taken_up_leaves_no_queue_behind() -> None:
    """A cancel or a subscriber that comes just after the end of a task, or after its deletion."""
    store = memory_task_store(owner_of)
    await store.open()
    registry = TidyRegistry(agent_executor=Scripted(echo), task_store=store)
    before = asyncio.all_tasks()
    for number in range(10):
        with pytest.raises(TaskNotFoundError):
            await registry.get_or_create(f"gone-{number}", ServerCallContext())
    async with asyncio.timeout(5):
        while asyncio.all_tasks() - before:
            await asyncio.sleep(0.01)
    await registry.aclose()
    await store.close()


def test_the_handler_uses_it() -> None:
    assert "TidyRegistry" in PlatformRequestHandler.__init__.__code__.co_names

"""Remote tasks whose parent task has ended, and agents that are down when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from a2a.types.a2a_pb2 import Task

from utils.a2a_common.client.agents.registry import SubAgentRegistry
from utils.a2a_common.client.delegation.abandoned import Abandoned
from utils.a2a_common.client.transport.credentials import ActingFor
from utils.errors import SubAgentUnavailable
from utils.persistence.delegations import (
    COMPLETED,
    FAILED,
    LEFT_OPEN,
    WAITING,
    WORKING,
    DelegationRecord,
    DelegationStore,
)


def record(number: int, state: str, agent: str = "github", parent: str = "task") -> DelegationRecord:
    return DelegationRecord(
        f"id-{number}", parent, "thread", agent, "call", "step", "request", "context", f"r{number}", 1, state
    )


class Agents:
    """Reaches the agents that are up."""

    def __init__(self, *up: str) -> None:
        self.name = "double"
        self.up, self.canceled = set(up), list[str]()

    @asynccontextmanager
    async def reach(self, name: str, whom: ActingFor) -> AsyncIterator[Any]:
        del whom
        if name not in self.up:
            raise SubAgentUnavailable(name)
        yield SimpleNamespace(connection=self)

    async def cancel(self, task_id: str) -> Task:
        self.canceled.append(task_id)
        return Task(id=task_id)

    def abandoned(self, store: DelegationStore, *names: str) -> Abandoned:
        addresses = {name: f"http://{name}.invalid" for name in names or ("github", "rag")}
        registry = SubAgentRegistry(addresses, refresh_seconds=60, on_change=nothing)
        return Abandoned(store, registry, self.reach)


async def nothing() -> None:
    """No agent is looked at."""


async def opened(home: Path) -> DelegationStore:
    store = DelegationStore(home / "errands.sqlite")
    await store.open()
    return store


async def test_what_is_open_is_canceled_and_nothing_of_the_task_is_left(tmp_path: Path) -> None:
    store, agents = await opened(tmp_path), Agents("github")
    for number, state in enumerate((WORKING, WAITING, LEFT_OPEN, COMPLETED, FAILED)):
        await store.put(record(number, state))
    await store.put(record(9, WORKING, parent="other"))
    await agents.abandoned(store).end("task")
    assert sorted(agents.canceled) == ["r0", "r1", "r2"]
    assert await store.of_task("task") == await store.abandoned("github") == []
    assert [each.id for each in await store.of_task("other")] == ["id-9"]
    await store.close()


async def test_a_task_at_an_agent_that_is_down_is_canceled_when_it_comes_up_also_after_a_restart(
    tmp_path: Path,
) -> None:
    store, agents = await opened(tmp_path), Agents()
    await store.put(record(1, WORKING))
    await agents.abandoned(store).end("task")
    assert await store.of_task("task") == []
    assert [each.id for each in await store.abandoned("github")] == ["id-1"]
    await store.close()
    store, agents = await opened(tmp_path), Agents("github")
    later = agents.abandoned(store)
    later.came_up("rag")
    later.came_up("github")
    async with asyncio.timeout(60):
        while await store.abandoned("github"):
            await asyncio.sleep(0)
    assert agents.canceled == ["r1"]
    await later.stop()
    await store.close()


async def test_nothing_is_left_of_what_an_agent_had_that_is_configured_no_more(tmp_path: Path) -> None:
    store, agents = await opened(tmp_path), Agents("github")
    await store.put(record(1, WORKING))
    await agents.abandoned(store, "rag").end("task")
    assert agents.canceled == []
    assert await store.abandoned("github") == []
    await store.close()

"""Cancels remote tasks whose parent task has ended: at once, or when their agent can be reached again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING

import structlog

from multi_agents.platform_engineer.delegation_words import message_id_of, whom_for
from utils.errors import SubAgentUnavailable

if TYPE_CHECKING:
    from utils.a2a_common.client.credentials import ActingFor
    from utils.a2a_common.client.registry import SubAgentRegistry
    from utils.a2a_common.client.remote_agent import RemoteAgent
    from utils.persistence.delegations import DelegationRecord
    from utils.persistence.stores import Delegations

log = structlog.get_logger(__name__)


class Abandoned:
    """The delegations of tasks that have ended. They stand in the store until their agents have answered.

    Args:
        delegations: The store, which outlives the process.
        registry: The agents that are configured.
        reach: Reaches one of them; `RemoteAgents.reach`.
    """

    def __init__(
        self,
        delegations: Delegations,
        registry: SubAgentRegistry,
        reach: Callable[[str, ActingFor], AbstractAsyncContextManager[RemoteAgent]],
    ) -> None:
        self._delegations = delegations
        self._registry = registry
        self._reach = reach
        self._background: set[asyncio.Task[None]] = set()

    async def end(self, parent_task_id: str) -> None:
        """A task has ended: cancel what it left at other agents. What cannot be reached is canceled later."""
        await self._end_all(await self._delegations.abandon(parent_task_id))

    def came_up(self, agent: str) -> None:
        """An agent can be reached again: cancel what was left there."""
        task = asyncio.create_task(self._end_at(agent))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def stop(self) -> None:
        """Stop what runs in the background; it is done when the agent is seen after the next start."""
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    async def _end_at(self, agent: str) -> None:
        try:
            await self._end_all(await self._delegations.abandoned(agent))
        except Exception:  # background task: it is tried again when the agent comes up the next time
            log.exception("delegation.cancel_failed", agent=agent)

    async def _end_all(self, records: Sequence[DelegationRecord]) -> None:
        await asyncio.gather(*map(self._end, records))

    async def _end(self, record: DelegationRecord) -> None:
        if await self._cancel(record):
            await self._delegations.remove(record.id)

    async def _cancel(self, record: DelegationRecord) -> bool:
        """Cancel the task of what was sent last; whether its agent answered, or is configured no more."""
        if record.agent not in {agent.name for agent in self._registry.agents}:
            return True
        message_id = message_id_of(record, max(0, record.sent - 1))
        with suppress(SubAgentUnavailable):  # its card is not known, or names no address any more
            async with self._reach(record.agent, whom_for(record)) as remote:
                log.info("delegation.given_up", agent=record.agent, task_id=record.parent_task_id)
                return await remote.cancel_by_message(message_id, record.context_id, record.task_id)
        return False

"""Cancels remote tasks whose parent task has ended: at once, or when their agent can be reached again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from utils.persistence.delegations import DelegationRecord
    from utils.persistence.stores import Delegations

log = structlog.get_logger(__name__)

Cancel = Callable[["DelegationRecord"], Awaitable[bool]]
"""Cancels a delegation at its agent; whether the agent answered."""


class Abandoned:
    """The delegations of tasks that have ended. They stand in the store until their agents have answered.

    Args:
        delegations: The store, which outlives the process.
        cancel: Cancels one of them.
    """

    def __init__(self, delegations: Delegations, cancel: Cancel) -> None:
        self._delegations = delegations
        self._cancel = cancel
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

"""Cancels remote tasks orphaned by a previous crash of this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog

from utils.persistence.delegations import COMPLETED, FAILED, DelegationRecord

log = structlog.get_logger(__name__)

End = Callable[[DelegationRecord], Awaitable[None]]
Forget = Callable[[str], Awaitable[None]]


class LeftBehind:
    """The delegations of tasks that ended with an earlier process. Each is ended once its agent is seen.

    Args:
        records: What the tasks that were worked on had begun, whatever became of it.
        end: Ends a delegation at its agent; best effort.
        forget: Drops the delegations of one of our tasks.
    """

    def __init__(self, records: Sequence[DelegationRecord], *, end: End, forget: Forget) -> None:
        self._left = [record for record in records if record.state not in (COMPLETED, FAILED)]
        self._end = end
        self._forget = forget
        self._ending: set[asyncio.Task[None]] = set()

    def came_up(self, agent: str) -> None:
        """An agent was seen to be up."""
        mine = [record for record in self._left if record.agent == agent]
        if mine:
            self._left = [record for record in self._left if record.agent != agent]
            ending = asyncio.create_task(self._end_all(mine))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    async def stop(self) -> None:
        """Stop ending; what is not ended is found again at the next start."""
        for ending in self._ending:
            ending.cancel()
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _end_all(self, records: Sequence[DelegationRecord]) -> None:
        for record in records:
            try:
                await self._end(record)
            except Exception:  # background task: the others are ended all the same
                log.exception("delegation.left_behind", agent=record.agent)
            if record.parent_task_id not in {each.parent_task_id for each in self._left}:
                await self._forget(record.parent_task_id)

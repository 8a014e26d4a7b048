"""The time right after the supervisor's start, in which its agents may not be up yet."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from utils.a2a_common.protocol.readiness import Readiness
from utils.events import StatusText

if TYPE_CHECKING:
    from utils.a2a_common.client.agents.registry import SubAgentRegistry


class Starting:
    """Waits for the agents during the start, which begins when this object is created.

    Args:
        registry: Watches the agents.
        seconds: How long agents are expected to start.
    """

    def __init__(self, registry: SubAgentRegistry, seconds: float) -> None:
        self._registry = registry
        self._ends = time.monotonic() + seconds

    @property
    def _left(self) -> float:
        return max(0.0, self._ends - time.monotonic())

    def readiness(self) -> Readiness:
        """Ready once every agent is up; an agent that stays down delays this only until the start time is over."""
        away = [agent for agent in self._registry.agents if not agent.reachable]
        if not away:
            return Readiness(ready=True)
        missing = tuple(agent.name for agent in away)
        down = ", ".join(
            f"{agent.name} ({agent.refused.rstrip('.')})" if agent.refused else agent.name for agent in away
        )
        if self._left or not self._registry.looked_at_all:
            return Readiness(ready=False, detail=f"waiting for {down}", without=missing)
        return Readiness(ready=True, detail=f"without {down}", without=missing)

    async def until_all_are_known(self, seconds: float) -> AsyncGenerator[StatusText, None]:
        """Wait for the first look at the agents, then for those that are not known yet; at most `seconds`.

        A plan made earlier would know only some of the agents, and would give them the work of the others.
        """
        if not self._registry.looked_at_all:
            await self._registry.looked_at([agent.name for agent in self._registry.agents])
        left = min(self._left, seconds)
        not_joined = self._registry.not_joined
        if not_joined and left > 0:
            yield StatusText(f"Waiting for {', '.join(not_joined)} to start.")
            await self._registry.until_all_join(left)

"""`RemoteAgents`: reaches the agents of the registry."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from utils.a2a_common.client.client_pool import ClientPool
from utils.a2a_common.client.credentials import ActingFor, acting_for
from utils.a2a_common.client.registry import SubAgentRegistry
from utils.a2a_common.client.remote_agent import RemoteAgent
from utils.a2a_common.client.sentences import SUB_AGENT_UNKNOWN
from utils.errors import SubAgentUnavailable

if TYPE_CHECKING:
    from utils.persistence.stores import Contexts


class RemoteAgents:
    """Reaches an agent for whom it is asked.

    Args:
        registry: The agents and their cards.
        pool: The connections to them.
        contexts: Says who a conversation belongs to.
        progress_seconds: Silence of an agent after which progress is reported in its place.
    """

    def __init__(
        self, registry: SubAgentRegistry, pool: ClientPool, contexts: Contexts, *, progress_seconds: float
    ) -> None:
        self._registry = registry
        self._pool = pool
        self._contexts = contexts
        self._progress_seconds = progress_seconds

    @asynccontextmanager
    async def reach(self, name: str, whom: ActingFor) -> AsyncIterator[RemoteAgent]:
        """The agent, by a client that stays open as long as it is held, whatever becomes of the agent's card.

        An agent that cannot be reached is looked at often.

        Raises:
            SubAgentUnavailable: Its card is not known, or names no address.
        """
        card = self._registry.get(name).card
        if card is None:
            raise SubAgentUnavailable(SUB_AGENT_UNKNOWN.format(agent=name))
        async with self._pool.connection(name, card) as connection:
            person = await self._contexts.person(whom.conversation)
            with acting_for(replace(whom, person=person.key, tenant=person.tenant)):
                yield RemoteAgent(
                    name,
                    connection,
                    progress_seconds=self._progress_seconds,
                    on_away=partial(self._registry.doubt, name),
                )

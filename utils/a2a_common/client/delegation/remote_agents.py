"""`RemoteAgents`: reaches the agents of the registry, over connections of their own.

Each agent has a pool, so that a slow one cannot use up the others' connections.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Container
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import structlog

from utils.a2a_common.client.agents.registry import SubAgentRegistry
from utils.a2a_common.client.delegation.remote_agent import RemoteAgent
from utils.a2a_common.client.transport.connection import Connection, http_client
from utils.a2a_common.client.transport.credentials import ActingFor, Origin, acting_for, origin_of
from utils.a2a_common.client.transport.interfaces import OTHER_VERSION, CardUnusable, unusable, web_interfaces
from utils.a2a_common.client.transport.sentences import SUB_AGENT_CARD_UNUSABLE, SUB_AGENT_UNKNOWN
from utils.errors import SubAgentUnavailable

if TYPE_CHECKING:
    import ssl

    import httpx
    from a2a.types.a2a_pb2 import AgentCard

    from utils.a2a_common.client.transport.credentials import Credentials
    from utils.persistence.stores import Contexts

log = structlog.get_logger(__name__)


@dataclass(eq=False, slots=True)
class _Pooled:
    """A connection for one version of an agent's card.

    Attributes:
        version: The card.
        connection: Sends A2A requests.
        http: Its HTTP connections.
        users: Number of current users.
        replaced: Whether the agent has another card by now: then the last one who holds it closes it.
    """

    version: bytes
    connection: Connection
    http: httpx.AsyncClient
    users: int = 0
    replaced: bool = False


class RemoteAgents:
    """Calls a sub-agent in the name of the user whose task needs it.

    Args:
        registry: The agents and their cards.
        pool: The connections to them.
        contexts: Knows the owner of a conversation.
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
        """The agent, by a client that stays open while it is in use, even if the agent's card changes.

        An agent that cannot be reached is looked at often.

        Raises:
            SubAgentUnavailable: Its card is not known, or it cannot be called with it.
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


class ClientPool:
    """Connections by agent name; made on first use, replaced when the agent's card changed.

    Args:
        largest_answer: Bytes of one response that are taken at most.
        credentials: What proves to an agent who asks, by its name.
        origins: Where an agent may be called, by its name, whatever its card says; anywhere where it is `None`.
        tls: From `client_context`.
        own: The names of the agents that are ours.
    """

    def __init__(
        self,
        largest_answer: int,
        credentials: Callable[[str], Credentials | None] = lambda _name: None,
        origins: Callable[[str], Container[Origin] | None] = lambda _name: None,
        tls: ssl.SSLContext | None = None,
        own: Container[str] = (),
    ) -> None:
        self._largest_answer = largest_answer
        self._credentials = credentials
        self._origins = origins
        self._tls, self._own = tls, own
        self._current: dict[str, _Pooled] = {}
        self._open: set[_Pooled] = set()

    @asynccontextmanager
    async def connection(self, name: str, card: AgentCard) -> AsyncIterator[Connection]:
        """The connection to an agent as its card describes it. It stays open as long as it is held.

        Raises:
            SubAgentUnavailable: The agent cannot be called with its card.
        """
        version = card.SerializeToString(deterministic=True)
        pooled, old = self._current.get(name), None
        if pooled is None or pooled.version != version:
            pooled, old = self._connect(name, card, version), pooled
            self._current[name] = pooled
        pooled.users += 1
        try:
            if old is not None:
                old.replaced = True
                await self._close_unused(old)
            yield pooled.connection
        finally:
            pooled.users -= 1
            await self._close_unused(pooled)

    async def aclose(self) -> None:
        """Close all connections."""
        self._current = {}
        for pooled in tuple(self._open):
            await self._close(pooled)

    def _connect(self, name: str, card: AgentCard, version: bytes) -> _Pooled:
        from utils.a2a_common.client.transport.limits import PeerLimits

        card = self._within(name, card)
        first = next((each.url for each in web_interfaces(card)), "")
        limits = PeerLimits(name, most=self._largest_answer)
        http = http_client(first, limits, self._credentials(name), self._tls, own=name in self._own)
        try:
            connection = Connection.open(name, card, http)
        except CardUnusable as error:
            log.warning("sub_agent.card_unusable", agent=name, reason=error.code)
            failure = SubAgentUnavailable(
                SUB_AGENT_CARD_UNUSABLE.format(agent=name, why=unusable(card) or OTHER_VERSION)
            )
            failure.retryable = False  # until its card changes
            raise failure from error
        pooled = _Pooled(version, connection, http)
        self._open.add(pooled)
        return pooled

    def _within(self, name: str, card: AgentCard) -> AgentCard:
        """The card without the addresses of other origins than those that the agent may be called at.

        Raises:
            SubAgentUnavailable: It names others alone.
        """
        from a2a.types.a2a_pb2 import AgentCard

        origins, named = self._origins(name), web_interfaces(card)
        if origins is None:
            return card
        kept = [each for each in named if origin_of(each.url) in origins]
        if named and not kept:
            log.warning("sub_agent.other_origin", agent=name)
            raise SubAgentUnavailable(
                f"The card of the {name} agent names an address at another origin than it is configured at. "
                "SUB_AGENT_ORIGINS allows one."
            )
        left = AgentCard()
        left.CopyFrom(card)
        del left.supported_interfaces[:]
        left.supported_interfaces.extend(kept)
        return left

    async def _close_unused(self, pooled: _Pooled) -> None:
        if pooled.replaced and not pooled.users:
            await self._close(pooled)

    async def _close(self, pooled: _Pooled) -> None:
        self._open.discard(pooled)
        await pooled.http.aclose()

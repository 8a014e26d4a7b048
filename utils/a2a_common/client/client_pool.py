"""HTTP clients for remote agents: one per agent, so that a slow one cannot eat the others' connections."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import structlog

from utils.a2a_common.protocol.trace_context import pass_trace_on
from utils.errors import SubAgentUnavailable
from utils.net.loopback import is_loopback

if TYPE_CHECKING:
    import httpx
    from a2a.client import Client
    from a2a.types.a2a_pb2 import AgentCard

    from utils.a2a_common.client.peer_limits import PeerLimits

log = structlog.get_logger(__name__)

_CONNECT_SECONDS = 5.0
_CONNECTIONS = 32
_IDLE_CONNECTIONS = 4
"""Kept open for the next call. A pool sees that the peer closed one only when it is used again, so that many idle ones
would stay half-closed."""
IDLE_SECONDS = 2.0
"""Less than the 5 s after which uvicorn, like Node, closes an idle connection: a request that crosses that close on its
way is lost with a reset, and may not always be sent again."""


def http_client(url: str, limits: PeerLimits | None = None) -> httpx.AsyncClient:
    """A client for one agent. A stream may be silent for long, so that reads have no time-out of their own.

    Proxies of the environment are ignored for loopback addresses. Requests carry the current trace on.

    Args:
        url: Where the agent is.
        limits: What is taken from it at most; whatever it sends when omitted.
    """
    import httpx

    return httpx.AsyncClient(
        headers={"Accept-Encoding": "identity"} if limits else None,
        timeout=httpx.Timeout(_CONNECT_SECONDS, read=None, pool=_CONNECT_SECONDS),
        limits=httpx.Limits(
            max_connections=_CONNECTIONS,
            max_keepalive_connections=_IDLE_CONNECTIONS,
            keepalive_expiry=IDLE_SECONDS,
        ),
        trust_env=not is_loopback(url),
        event_hooks={"request": [pass_trace_on], "response": [limits.bound] if limits else []},
    )


@dataclass(eq=False, slots=True)
class _Pooled:
    """A client for one version of an agent's card.

    Attributes:
        version: The card.
        client: Speaks A2A.
        http: Its connections.
        users: How many hold it now.
        replaced: Whether the agent has another card by now: then the last one who holds it closes it.
    """

    version: bytes
    client: Client
    http: httpx.AsyncClient
    users: int = 0
    replaced: bool = False


class ClientPool:
    """A2A clients by agent name; made on first use, replaced when the agent's card changed.

    Args:
        largest_answer: Bytes of one response that are taken at most.
    """

    def __init__(self, largest_answer: int) -> None:
        self._largest_answer = largest_answer
        self._current: dict[str, _Pooled] = {}
        self._open: set[_Pooled] = set()

    @asynccontextmanager
    async def client(self, name: str, card: AgentCard) -> AsyncIterator[Client]:
        """The client for an agent as its card describes it. It stays open as long as it is held.

        Raises:
            SubAgentUnavailable: The card names no address that can be used.
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
            yield pooled.client
        finally:
            pooled.users -= 1
            await self._close_unused(pooled)

    async def aclose(self) -> None:
        """Close all connections."""
        self._current = {}
        for pooled in tuple(self._open):
            await self._close(pooled)

    def _connect(self, name: str, card: AgentCard, version: bytes) -> _Pooled:
        from a2a.client import ClientConfig, ClientFactory
        from a2a.utils.constants import TransportProtocol

        from utils.a2a_common.client.peer_limits import PeerLimits

        card = _with_web_addresses(card)
        first = next((each.url for each in card.supported_interfaces), "")
        http = http_client(first, PeerLimits(name, most=self._largest_answer))
        config = ClientConfig(
            httpx_client=http,
            supported_protocol_bindings=[TransportProtocol.JSONRPC, TransportProtocol.HTTP_JSON],
        )
        try:
            client = ClientFactory(config).create(card)
        except ValueError as error:  # how the SDK says that it can use none of the interfaces
            log.warning("sub_agent.no_interface", agent=name)
            raise SubAgentUnavailable(
                f"The card of the {name} agent names no address that can be used. "
                "It must name one of http or https for JSON-RPC or HTTP+JSON."
            ) from error
        pooled = _Pooled(version, client, http)
        self._open.add(pooled)
        return pooled

    async def _close_unused(self, pooled: _Pooled) -> None:
        if pooled.replaced and not pooled.users:
            await self._close(pooled)

    async def _close(self, pooled: _Pooled) -> None:
        self._open.discard(pooled)
        await pooled.http.aclose()


def _with_web_addresses(card: AgentCard) -> AgentCard:
    """The card with those of its interfaces that an HTTP client can call."""
    from a2a.types.a2a_pb2 import AgentCard

    left = AgentCard()
    left.CopyFrom(card)
    left.ClearField("supported_interfaces")
    left.supported_interfaces.extend(each for each in card.supported_interfaces if _is_web(each.url))
    return left


def _is_web(url: str) -> bool:
    import httpx

    try:
        httpx.URL(url)
        parts = urlsplit(url)
    except (httpx.InvalidURL, ValueError):
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)

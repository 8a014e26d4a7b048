"""HTTP clients for remote agents: one per agent, so that a slow one cannot eat the others' connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utils.a2a_common.trace_context import pass_trace_on
from utils.loopback import is_loopback

if TYPE_CHECKING:
    import httpx
    from a2a.client import Client
    from a2a.types.a2a_pb2 import AgentCard

_CONNECT_SECONDS = 5.0
_CONNECTIONS = 32
_IDLE_CONNECTIONS = 4
"""Kept open for the next call. A pool sees that the peer closed one only when it is used again, so that many idle ones
would stay half-closed."""
IDLE_SECONDS = 2.0
"""Less than the 5 s after which uvicorn, like Node, closes an idle connection: a request that crosses that close on its
way is lost with a reset, and may not always be sent again."""


def http_client(url: str) -> httpx.AsyncClient:
    """A client for one agent. A stream may be silent for long, so that reads have no time-out of their own.

    Proxies of the environment are ignored for loopback addresses. Requests carry the current trace on.
    """
    import httpx

    return httpx.AsyncClient(
        timeout=httpx.Timeout(_CONNECT_SECONDS, read=None, pool=_CONNECT_SECONDS),
        limits=httpx.Limits(
            max_connections=_CONNECTIONS,
            max_keepalive_connections=_IDLE_CONNECTIONS,
            keepalive_expiry=IDLE_SECONDS,
        ),
        trust_env=not is_loopback(url),
        event_hooks={"request": [pass_trace_on]},
    )


class ClientPool:
    """A2A clients by agent name; made on first use, replaced when the agent's card changed."""

    def __init__(self) -> None:
        self._clients: dict[str, tuple[bytes, Client, httpx.AsyncClient]] = {}

    async def client(self, name: str, card: AgentCard) -> Client:
        """The client for an agent as its card describes it."""
        from a2a.client import ClientConfig, create_client
        from a2a.utils.constants import TransportProtocol

        version = card.SerializeToString(deterministic=True)
        found = self._clients.get(name)
        if found is not None and found[0] == version:
            return found[1]
        http = http_client(card.supported_interfaces[0].url if card.supported_interfaces else "")
        config = ClientConfig(
            httpx_client=http,
            supported_protocol_bindings=[TransportProtocol.JSONRPC, TransportProtocol.HTTP_JSON],
        )
        client = await create_client(card, config)
        self._clients[name] = (version, client, http)
        if found is not None:
            await found[2].aclose()
        return client

    async def aclose(self) -> None:
        """Close all connections."""
        clients, self._clients = self._clients, {}
        for _, _, http in clients.values():
            await http.aclose()

"""Opens an MCP session over stdio or streamable HTTP; the caller initializes it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

import httpx

from utils.mcp.config import McpServer
from utils.mcp.http_client import McpHttpClient
from utils.net.bounded import Bound
from utils.net.loopback import is_loopback
from utils.net.web_client import web_client

if TYPE_CHECKING:
    from langchain_mcp_adapters.sessions import McpHttpClientFactory
    from mcp import ClientSession
    from mcp.client.session import MessageHandlerFnT

_CONNECT_SECONDS = 10.0
_LATER_SECONDS = 5.0
"""How much later than the call its HTTP request times out: the error of the call names the server, that of the request does not."""


def transport_of(
    server: McpServer, on_message: MessageHandlerFnT, most: int
) -> AbstractAsyncContextManager[ClientSession]:
    """The session; leaving the block ends the program or the HTTP session.

    Args:
        server: Its configuration.
        on_message: Called with each notification of the server.
        most: Bytes of the largest message that is accepted from it.
    """
    from langchain_mcp_adapters.sessions import create_session

    if server.command is not None:
        return _stdio_session(server, on_message, most)
    return create_session(
        {
            "transport": "streamable_http",
            "url": str(server.url),
            "headers": dict(server.headers),
            "timeout": _CONNECT_SECONDS,
            "sse_read_timeout": server.timeout_seconds + _LATER_SECONDS,
            "httpx_client_factory": client_for(str(server.url), most),
            "session_kwargs": {"message_handler": on_message},
        }
    )


@asynccontextmanager
async def _stdio_session(
    server: McpServer, on_message: MessageHandlerFnT, most: int
) -> AsyncGenerator[ClientSession]:
    from mcp import ClientSession

    from utils.mcp.stdio import stdio_streams

    async with (
        stdio_streams(server, most) as (incoming, outgoing),
        ClientSession(incoming, outgoing, message_handler=on_message) as session,
    ):
        yield session


def client_for(url: str, most: int) -> McpHttpClientFactory:
    """A factory of HTTP clients that send the headers to this server only: without redirects, and without a proxy for loopback."""
    trusts = not is_loopback(url)

    def client(
        headers: dict[str, str] | None = None,
        timeout: httpx.Timeout | None = None,
        auth: httpx.Auth | None = None,
    ) -> httpx.AsyncClient:
        return web_client(
            Bound(most, most),
            kind=McpHttpClient,
            headers=headers,
            timeout=timeout,
            auth=auth,
            trust_env=trusts,
        )

    return client

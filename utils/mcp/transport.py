"""An open, not yet greeted session with an MCP server, over stdio or streamable HTTP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

import httpx

from utils.mcp.config import McpServer
from utils.net.loopback import is_loopback

if TYPE_CHECKING:
    from langchain_mcp_adapters.sessions import McpHttpClientFactory
    from mcp import ClientSession

_CONNECT_SECONDS = 10.0


def transport_of(
    server: McpServer, heard: Callable[[Any], Awaitable[None]]
) -> AbstractAsyncContextManager[ClientSession]:
    """The session; closing it ends the program or the HTTP session.

    Args:
        server: How it is reached.
        heard: Called with what the server says by itself.
    """
    from langchain_mcp_adapters.sessions import create_session

    session: dict[str, Any] = {"message_handler": heard}
    if server.command is not None:
        return create_session(
            {
                "transport": "stdio",
                "command": server.command,
                "args": list(server.args),
                "env": dict(server.env),
                "cwd": server.cwd,
                "session_kwargs": session,
            }
        )
    return create_session(
        {
            "transport": "streamable_http",
            "url": str(server.url),
            "headers": dict(server.headers),
            "timeout": _CONNECT_SECONDS,
            "sse_read_timeout": server.timeout_seconds,
            "httpx_client_factory": _client_for(str(server.url)),
            "session_kwargs": session,
        }
    )


def _client_for(url: str) -> McpHttpClientFactory:
    """Makes clients that send their headers to this server only: no redirect is followed, no proxy asked on this machine."""
    trusts = not is_loopback(url)

    def client(
        headers: dict[str, str] | None = None,
        timeout: httpx.Timeout | None = None,
        auth: httpx.Auth | None = None,
    ) -> httpx.AsyncClient:
        return httpx.AsyncClient(headers=headers, timeout=timeout, auth=auth, trust_env=trusts)

    return client

"""All MCP servers of one agent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import structlog

from utils.mcp.config import McpServer, servers_of
from utils.settings import McpSettings

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from utils.mcp.connection import Connection
    from utils.mcp.tools import Offer

log = structlog.get_logger(__name__)

Rebuild = Callable[[], Awaitable[None]]


def mcp_servers(environ: Mapping[str, str], agent: str) -> McpServers | None:
    """The MCP servers that an agent is configured with; `None` without any, at no cost.

    Raises:
        SettingsError: `MCP_SERVERS` is wrong.
    """
    settings = McpSettings.load(environ)
    found = servers_of(settings.servers, environ, agent) if settings.servers else []
    return McpServers(found, settings) if found else None


class McpServers:
    """The connections of one agent, and the tools that they offer now."""

    def __init__(self, servers: Sequence[McpServer], settings: McpSettings) -> None:
        self._servers = servers
        self._settings = settings
        self._connections: list[Connection] = []
        self._rebuild: Rebuild | None = None

    async def start(self, rebuild: Rebuild) -> None:
        """Connect. Waits a moment for those that answer at once; the others join when they do.

        Args:
            rebuild: Makes the agent's graph anew, with the tools of now.
        """
        from utils.mcp.connection import Connection

        if self._connections:
            return
        pause = self._settings.retry_seconds
        self._connections = [Connection(server, self._changed, pause=pause) for server in self._servers]
        for connection in self._connections:
            connection.start()
        waits = [asyncio.create_task(connection.tried.wait()) for connection in self._connections]
        _, late = await asyncio.wait(waits, timeout=self._settings.start_seconds)
        for wait in late:
            wait.cancel()
        self._rebuild = rebuild

    async def stop(self) -> None:
        """End every connection."""
        self._rebuild = None
        connections, self._connections = self._connections, []
        await asyncio.gather(*(connection.stop() for connection in connections))

    def tools(self, own: Sequence[BaseTool]) -> list[BaseTool]:
        """The tools of all servers that were reached.

        Args:
            own: The agent's own tools, whose names stay theirs.
        """
        from utils.mcp.tools import tools_of

        found = list(own)
        for connection in self._connections:
            found += tools_of(connection, {tool.name for tool in found})
        return found[len(own) :]

    def offers(self) -> list[Offer]:
        """What each server that was reached offers now."""
        from utils.mcp.tools import offer_of

        return [offer_of(connection) for connection in self._connections if connection.tools]

    async def _changed(self) -> None:
        """A server joined, or its tools are other ones."""
        if self._rebuild is None:
            return
        try:
            await self._rebuild()
        except Exception:  # background task: the graph of before goes on
            log.exception("mcp.rebuild_failed")

"""All MCP servers of one agent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import structlog

from utils.mcp.config import McpServer, servers_of

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from utils.mcp.connection import Connection
    from utils.mcp.tools import Joined, Offer
    from utils.settings import McpSettings

log = structlog.get_logger(__name__)

Rebuild = Callable[[], Awaitable[None]]

MOST_TOOLS = 128
"""Largest number of tools in one request, by OpenAI's reference of Chat Completions."""
_KEPT_FREE = 8
"""Of these, reserved for tools of the middleware, such as `read_tool_output` and `recall`."""
_NAMED = 30
"""Largest number of tool names in one log line or phrase."""


def mcp_servers(settings: McpSettings, environ: Mapping[str, str], agent: str) -> McpServers | None:
    """The configured MCP servers of an agent, or `None`; imports nothing heavy then.

    Args:
        settings: Where the servers are described.
        environ: Where `${NAME}` in their descriptions is looked up.
        agent: The agent.

    Raises:
        SettingsError: `MCP_SERVERS` is invalid.
    """
    found = servers_of(settings.servers, environ, agent) if settings.servers else []
    return McpServers(found, settings) if found else None


class McpServers:
    """The connections of one agent, and the tools that they currently offer."""

    def __init__(self, servers: Sequence[McpServer], settings: McpSettings) -> None:
        self._servers = servers
        self._settings = settings
        self._connections: list[Connection] = []
        self._left_out: dict[str, tuple[str, ...]] = {}
        self._unusable: dict[str, Mapping[str, str]] = {}
        self._rebuild: Rebuild | None = None

    async def start(self, rebuild: Rebuild) -> None:
        """Connect. Waits briefly for servers that respond quickly; the others join later.

        Args:
            rebuild: Builds the agent's graph again, with the current tools.
        """
        from utils.mcp.connection import Connection

        if self._connections:
            return
        pause = self._settings.retry_seconds
        most = self._settings.max_answer_bytes
        self._connections = [
            Connection(server, self._changed, pause=pause, most=most) for server in self._servers
        ]
        for connection in self._connections:
            connection.start()
        waits = [asyncio.create_task(connection.tried.wait()) for connection in self._connections]
        _, late = await asyncio.wait(waits, timeout=self._settings.start_seconds)
        for wait in late:
            wait.cancel()
        self._rebuild = rebuild

    async def stop(self) -> None:
        """Close all connections."""
        self._rebuild = None
        connections, self._connections = self._connections, []
        await asyncio.gather(*(connection.stop() for connection in connections))

    def tools(self, own: Sequence[BaseTool], beside: Sequence[BaseTool] = ()) -> list[BaseTool]:
        """The tools of all connected servers, in the order of the settings, as many as fit into one request.

        Args:
            own: The agent's own tools, whose names take precedence.
            beside: The tools of its middleware, whose names take precedence too; places are reserved for them.
        """
        from utils.mcp.tools import tools_of

        found = list(own)
        for connection in self._connections:
            room = MOST_TOOLS - _KEPT_FREE - len(found)
            joined = tools_of(connection, {tool.name for tool in (*found, *beside)}, max(0, room))
            found += joined.tools
            self._log_unused(connection.server.name, joined)
        return found[len(own) :]

    def note(self) -> str:
        """Servers and tools that are not available, and why, as a phrase for the operator; empty if there are none."""
        phrases = [
            f"the MCP server {connection.server.name} is not connected: {connection.trouble}"
            for connection in self._connections
            if connection.trouble
        ]
        phrases += [
            f"the MCP server {connection.server.name} takes no requests: {connection.refusing}"
            for connection in self._connections
            if connection.refusing and not connection.trouble
        ]
        phrases += [
            f"{len(missing)} of {len(connection.tools)} tools of the MCP server {connection.server.name} are left out "
            f"({_listed(missing)}); its setting `tools` chooses"
            for connection in self._connections
            if (missing := self._left_out.get(connection.server.name))
        ]
        phrases += [
            f"the MCP server {server} has tools that cannot be used ({_listed(reasons)})"
            for server, unusable in self._unusable.items()
            if (reasons := [f"{tool}: {why}" for tool, why in unusable.items()])
        ]
        return "; ".join(phrases)

    def _log_unused(self, server: str, joined: Joined) -> None:
        """Log once which tools of a server are left out, and which cannot be used."""
        if joined.left_out and joined.left_out != self._left_out.get(server):
            log.warning(
                "mcp.tools_left_out",
                server=server,
                tools=list(joined.left_out[:_NAMED]),
                count=len(joined.left_out),
                most=MOST_TOOLS,
            )
        known = self._unusable.get(server, {})
        for tool, why in list(joined.unusable.items())[:_NAMED]:
            if known.get(tool) != why:
                log.warning("mcp.tool_left_out", server=server, tool=tool, reason=why)
        self._left_out[server], self._unusable[server] = joined.left_out, joined.unusable

    def offers(self) -> list[Offer]:
        """What each connected server currently offers."""
        from utils.mcp.tools import offer_of

        return [
            offer_of(connection, self._missing(connection.server.name))
            for connection in self._connections
            if connection.tools
        ]

    def _missing(self, server: str) -> set[str]:
        return {*self._left_out.get(server, ()), *self._unusable.get(server, ())}

    async def _changed(self) -> None:
        """Rebuild the graph: a server joined, or its tools changed."""
        if self._rebuild is None:
            return
        try:
            await self._rebuild()
        except Exception:  # a background task: the previous graph stays in use
            log.exception("mcp.rebuild_failed")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")

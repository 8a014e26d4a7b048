"""Calls a tool of an MCP server, and takes its result as the server sent it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp import ClientSession, types


async def call_tool(session: ClientSession, tool: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
    """The result of a tool, which is not compared with the tool's `outputSchema`.

    `ClientSession.call_tool` compares them in the event loop. A regular expression or nested references in the schema of a hostile server can take
    hours there, and nothing can interrupt them.

    Raises:
        McpError: The server, or the client of MCP for it, responded with an error.
        ValidationError: The result has no form of MCP.
    """
    from mcp import types

    params = types.CallToolRequestParams(name=tool, arguments=dict(arguments))
    request = types.ClientRequest(types.CallToolRequest(params=params))
    return await session.send_request(request, types.CallToolResult)

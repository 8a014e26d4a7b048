"""Calls a tool of an MCP server, and reads its result as the server sent it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from mcp import ClientSession, types

BLOCKS_AT_ONCE = 1_000
"""How many blocks of a result are read at once: some milliseconds of the event loop."""


class _Unread(BaseModel):
    """A result whose content is not read yet."""

    model_config = ConfigDict(extra="allow")


async def call_tool(session: ClientSession, tool: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
    """The result of a tool, which is not compared with the tool's `outputSchema`.

    `ClientSession.call_tool` compares them in the event loop. A regular expression or nested references in the schema of a hostile server can take
    hours there, and nothing can interrupt them. It also reads the whole content at once, which takes seconds for some 100,000 blocks.

    Raises:
        McpError: The server, or the client of MCP for it, responded with an error.
        ValidationError: The result has no form of MCP.
    """
    from mcp import types

    params = types.CallToolRequestParams(name=tool, arguments=dict(arguments))
    request = types.ClientRequest(types.CallToolRequest(params=params))
    sent = await session.send_request(request, _Unread)
    return await _read(sent.model_extra or {})


async def _read(sent: dict[str, Any]) -> types.CallToolResult:
    """The result, some blocks after the others."""
    from mcp import types

    content = sent.get("content")
    if not isinstance(content, list) or len(content) <= BLOCKS_AT_ONCE:
        return types.CallToolResult.model_validate(sent)
    result = types.CallToolResult.model_validate({**sent, "content": []})
    for first in range(0, len(content), BLOCKS_AT_ONCE):
        blocks = content[first : first + BLOCKS_AT_ONCE]
        result.content += types.CallToolResult.model_validate({"content": blocks}).content
        await asyncio.sleep(0)
    return result

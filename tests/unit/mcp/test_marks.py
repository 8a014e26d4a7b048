"""Which calls of MCP tools run again by themselves after a restart of the agent."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.types import Tool, ToolAnnotations

from utils.mcp.config import McpServer
from utils.mcp.connection import Connection
from utils.mcp.tools import tools_of
from utils.messages.repeatable import may_repeat


async def _changed() -> None:
    """Nothing is built again."""


@pytest.mark.parametrize("allow", [(), ("*",)])
@pytest.mark.parametrize(
    ("marks", "again"),
    [
        (None, False),
        ({}, False),
        ({"destructiveHint": False}, False),
        ({"readOnlyHint": True}, True),
        ({"idempotentHint": True}, True),
    ],
)
def test_only_what_reads_or_changes_nothing_more_runs_again_by_itself(
    allow: tuple[str, ...], marks: dict[str, Any] | None, again: bool
) -> None:
    connection = Connection(McpServer(name="box", command="box", allow=allow), _changed)
    annotations = None if marks is None else ToolAnnotations(**marks)
    connection.tools = [Tool(name="t", inputSchema={"type": "object"}, annotations=annotations)]
    (tool,) = tools_of(connection, (), 1).tools
    assert may_repeat(tool.metadata) is again

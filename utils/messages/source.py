"""Whose result a tool message holds: a label by the kind of the tool, set where tools are run, and never by its text. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from utils.messages.marks import MCP_SERVER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langchain_core.messages import ToolMessage


def labelled(message: ToolMessage, metadata: Mapping[str, Any] | None) -> ToolMessage:
    """The result of a tool with this metadata, with the label of the MCP server where the tool is one's."""
    server = MCP_SERVER.within(metadata or {})
    return message if server is None else MCP_SERVER.on(message, server)


def is_of_mcp_server(message: ToolMessage) -> bool:
    """Whether the result came from an MCP server: its text is of unknown origin and may be private."""
    return MCP_SERVER.of(message) is not None

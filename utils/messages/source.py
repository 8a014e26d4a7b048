"""Whose result a tool message holds: a label by the kind of the tool, set where tools are run, and never by its text. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langchain_core.messages import ToolMessage

MCP_SERVER = "mcp_server"
"""Key of a tool's `metadata`, and of its results' `additional_kwargs`: name of the MCP server in the settings."""


def labelled(message: ToolMessage, metadata: Mapping[str, Any] | None) -> ToolMessage:
    """The result of a tool with this metadata, with the label of the MCP server where the tool is one's."""
    server = (metadata or {}).get(MCP_SERVER)
    if server is None:
        return message
    kwargs = {**message.additional_kwargs, MCP_SERVER: server}
    return message.model_copy(update={"additional_kwargs": kwargs})


def is_of_mcp_server(message: ToolMessage) -> bool:
    """Whether the result came from an MCP server: its text is nobody's we know, and may be private."""
    return MCP_SERVER in message.additional_kwargs

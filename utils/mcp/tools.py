"""Wraps the tools of an MCP server as LangChain tools. The server's own texts are data: quoted and truncated."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from utils.errors import UpstreamRefused
from utils.mcp.approval import DECLINED, asks_first, is_read_only, may_call
from utils.mcp.blocks import blocks_of, text_of
from utils.mcp.words import plain, quoted
from utils.messages.repeatable import READ_ONLY
from utils.messages.source import MCP_SERVER

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
    from mcp import types

    from utils.mcp.connection import Connection

log = structlog.get_logger(__name__)

LONGEST_DESCRIPTION = 600
LONGEST_OFFER = 120
"""Characters of a tool's description in a list."""
LARGEST_SCHEMA = 20_000
"""Characters of the JSON schema of a tool's arguments; a tool with a larger one is left out."""
_ASKS = "The user is asked first and sees exactly what will be sent."
_LONGEST_NAME = 64
_LONGEST_HINT = 200
_LONGEST_ERROR = 1_500
_OTHER = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Offer:
    """What a server offers, for an agent's card.

    Attributes:
        server: Its name in the settings.
        tools: Description of each tool by name; the server's text on one line, truncated.
    """

    server: str
    tools: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Joined:
    """The tools of a server that an agent uses.

    Attributes:
        tools: The tools.
        left_out: Names of the others, each on one line and truncated.
    """

    tools: tuple[BaseTool, ...] = ()
    left_out: tuple[str, ...] = ()


def offer_of(connection: Connection, left_out: Container[str] = ()) -> Offer:
    """What a connected server offers, without the tools that are left out."""
    tools = {
        plain(tool.name, _LONGEST_NAME): plain(tool.description or "", LONGEST_OFFER)
        for tool in connection.tools
    }
    return Offer(connection.server.name, {name: does for name, does in tools.items() if name not in left_out})


def tools_of(connection: Connection, taken: Container[str], most: int) -> Joined:
    """The tools of a connected server that an agent uses.

    Args:
        connection: The server.
        taken: Names of other tools; a tool with one of these names is left out.
        most: Largest number of tools; the rest of the server's list is left out.
    """
    made: dict[str, BaseTool] = {}
    left_out: list[str] = []
    for offered in connection.tools:
        name = name_of(connection.server.name, offered.name)
        schema = schema_of(offered.inputSchema)
        unusable = name in taken or name in made or schema is None
        if unusable:
            log.warning("mcp.tool_left_out", server=connection.server.name, tool=name)
        if schema is None or unusable or len(made) >= most:
            left_out.append(plain(offered.name, _LONGEST_NAME))
        else:
            made[name] = _tool(connection, offered, name, schema)
    return Joined(tuple(made.values()), tuple(left_out))


def name_of(server: str, tool: str) -> str:
    """The name for the model: the server's name and the tool's, in characters that every provider accepts."""
    return f"{server}_{_OTHER.sub('_', tool)}"[:_LONGEST_NAME]


def description_of(server: str, text: str | None) -> str:
    """The description for the model; the server's text is quoted, so that it cannot pass for the agent's own."""
    said = plain(text or "", LONGEST_DESCRIPTION)
    return f"A tool of the {server} server, which describes it as {json.dumps(said, ensure_ascii=False)}."


def schema_of(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The schema of the arguments with its texts truncated; `None` when it is unusable."""
    if schema.get("type", "object") != "object":
        return None
    made: dict[str, Any] = {"type": "object", "properties": {}, **_capped(schema)}
    return made if len(json.dumps(made)) <= LARGEST_SCHEMA else None


def _capped(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: plain(each, _LONGEST_HINT)
            if key in {"description", "title"} and isinstance(each, str)
            else _capped(each)
            for key, each in value.items()
        }
    return [_capped(each) for each in value] if isinstance(value, list) else value


def _tool(connection: Connection, offered: types.Tool, name: str, schema: dict[str, Any]) -> BaseTool:
    from langchain_core.tools import StructuredTool

    server = connection.server.name
    asks = asks_first(connection.server, offered)

    async def call(**arguments: Any) -> list[dict[str, Any]]:
        if asks and not may_call(server, offered.name, arguments):
            return [{"type": "text", "text": DECLINED}]
        result = await connection.call(offered.name, arguments)
        if result.isError:
            said = quoted(text_of(result), _LONGEST_ERROR)
            raise UpstreamRefused(f"The tool {offered.name} of {server} failed: {said}")
        return blocks_of(result)

    return StructuredTool(
        name=name,
        description=description_of(server, offered.description) + (f" {_ASKS}" if asks else ""),
        args_schema=schema,
        coroutine=call,
        metadata={MCP_SERVER: server, READ_ONLY: is_read_only(offered)},
    )

"""Wraps the tools of an MCP server as LangChain tools. The server's texts are data: quoted and truncated."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from utils.errors import UpstreamRefused
from utils.mcp.approval import DECLINED, asks_first, is_read_only, may_call, may_repeat_calls
from utils.mcp.blocks import blocks_of, text_of
from utils.mcp.references import UnusableSchemaError
from utils.mcp.schema import Arguments, arguments_of
from utils.mcp.words import plain, quoted
from utils.messages.marks import MCP_SERVER
from utils.messages.repeatable import CHANGES, READ_ONLY, REPEATABLE
from utils.messages.unanswered import unanswered

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
    from mcp import types

    from utils.mcp.connection import Connection

LONGEST_DESCRIPTION = 600
LONGEST_OFFER = 120
"""Characters of a tool's description in a list."""
_ASKS = "The user is asked first and sees exactly what will be sent."
_LONGEST_NAME = 64
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
        left_out: Names of those that do not fit into one request, each on one line and truncated.
        unusable: Why each of the others cannot be used, by name.
    """

    tools: tuple[BaseTool, ...] = ()
    left_out: tuple[str, ...] = ()
    unusable: Mapping[str, str] = field(default_factory=dict)


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
    unusable: dict[str, str] = {}
    for offered in connection.tools:
        name = name_of(connection.server.name, offered.name)
        shown = plain(offered.name, _LONGEST_NAME)
        try:
            arguments = arguments_of(offered.inputSchema)
        except UnusableSchemaError as error:
            unusable[shown] = str(error)
            continue
        if name in taken or name in made:
            unusable[shown] = f"another tool has the name {name}"
        elif len(made) >= most:
            left_out.append(shown)
        else:
            made[name] = _tool(connection, offered, name, arguments)
    return Joined(tuple(made.values()), tuple(left_out), unusable)


def name_of(server: str, tool: str) -> str:
    """The name for the model: the server's name and the tool's, in characters that every provider accepts."""
    return f"{server}_{_OTHER.sub('_', tool)}"[:_LONGEST_NAME]


def description_of(server: str, text: str | None) -> str:
    """The description for the model; the server's text is quoted, so that it cannot be mistaken for the agent's own."""
    description = quoted(text or "", LONGEST_DESCRIPTION)
    return f"A tool of the {server} server, which describes it as {description}."


def _tool(connection: Connection, offered: types.Tool, name: str, arguments: Arguments) -> BaseTool:
    from utils.mcp.connection import UnansweredError
    from utils.mcp.mapped_tool import MappedTool

    server = connection.server.name
    asks = asks_first(connection.server, offered)
    marks = _marks(offered, asks=asks)

    async def call(sent: Mapping[str, Any]) -> list[dict[str, Any]]:
        own_arguments = arguments.of(sent)
        if asks and not may_call(server, offered.name, own_arguments):
            return [{"type": "text", "text": DECLINED}]
        try:
            result = await connection.call(offered.name, own_arguments)
        except UnansweredError as error:
            raise unanswered(error.error, marks) from error
        if result.isError:
            text = quoted(text_of(result), _LONGEST_ERROR)
            raise UpstreamRefused(f"The tool {offered.name} of {server} failed: {text}")
        return blocks_of(result)

    return MappedTool(
        name=name,
        description=description_of(server, offered.description) + (f" {_ASKS}" if asks else ""),
        args_schema=arguments.schema,
        function=call,
        metadata={**MCP_SERVER.entry(server), **marks},
    )


def _marks(offered: types.Tool, *, asks: bool) -> dict[str, bool]:
    """Whether an interrupted call may be repeated, and how the interruption is reported."""
    repeatable = may_repeat_calls(offered)
    return {READ_ONLY: is_read_only(offered), REPEATABLE: repeatable, CHANGES: asks and not repeatable}

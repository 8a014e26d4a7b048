"""An MCP server's tools as LangChain tools. What the server says of itself is data: quoted and capped."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from utils.errors import UpstreamRefused
from utils.mcp.approval import DECLINED, asks_first, may_call
from utils.mcp.blocks import blocks_of, text_of

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
    from mcp import types

    from utils.mcp.connection import Connection

log = structlog.get_logger(__name__)

LONGEST_DESCRIPTION = 600
LONGEST_OFFER = 120
"""Characters of a tool's description where it stands in a list."""
LARGEST_SCHEMA = 20_000
"""Characters of the JSON schema of a tool's arguments; a tool with a larger one is left out."""
_ASKS = "The user is asked first and sees exactly what will be sent."
_LONGEST_NAME = 64
_LONGEST_HINT = 200
_LONGEST_ERROR = 1_500
_OTHER = re.compile(r"[^A-Za-z0-9_-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")


@dataclass(frozen=True, slots=True)
class Offer:
    """What a server offers, in a form for an agent's card.

    Attributes:
        server: Our name of it.
        tools: What each tool does, by its name; the server's words on one line, capped.
    """

    server: str
    tools: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Joined:
    """What an agent takes of a server's tools.

    Attributes:
        tools: The tools.
        left_out: Names of those that it does not take, on one line each, capped.
    """

    tools: tuple[BaseTool, ...] = ()
    left_out: tuple[str, ...] = ()


def offer_of(connection: Connection, left_out: Container[str] = ()) -> Offer:
    """What a connected server offers, without what is left out of it."""
    tools = {
        plain(tool.name, _LONGEST_NAME): plain(tool.description or "", LONGEST_OFFER)
        for tool in connection.tools
    }
    return Offer(connection.server.name, {name: does for name, does in tools.items() if name not in left_out})


def tools_of(connection: Connection, taken: Container[str], most: int) -> Joined:
    """The tools that an agent takes of a connected server.

    Args:
        connection: The server.
        taken: Names that other tools have; a tool with one of them is left out.
        most: How many there is room for; those behind them in the server's list are left out.
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
    """Our name of a tool: the server's name, then the tool's, in what every provider takes."""
    return f"{server}_{_OTHER.sub('_', tool)}"[:_LONGEST_NAME]


def description_of(server: str, text: str | None) -> str:
    """What a model reads of a tool; the server's words are quoted, so that they cannot pass for ours."""
    said = plain(text or "", LONGEST_DESCRIPTION)
    return f"A tool of the {server} server, which describes it as {json.dumps(said, ensure_ascii=False)}."


def schema_of(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The schema of the arguments with its texts capped; `None` where it is no usable one."""
    if schema.get("type", "object") != "object":
        return None
    made: dict[str, Any] = {"type": "object", "properties": {}, **_capped(schema)}
    return made if len(json.dumps(made)) <= LARGEST_SCHEMA else None


def plain(text: str, most: int) -> str:
    """A text on one line, without control and invisible characters, of `most` characters at most."""
    said = " ".join(_CONTROL.sub(" ", text).split())
    return said if len(said) <= most else said[: most - 1] + "…"


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
            said = text_of(result.content, _LONGEST_ERROR)
            raise UpstreamRefused(
                f"The tool {offered.name} of {server} failed: {json.dumps(said, ensure_ascii=False)}"
            )
        return blocks_of(result.content)

    return StructuredTool(
        name=name,
        description=description_of(server, offered.description) + (f" {_ASKS}" if asks else ""),
        args_schema=schema,
        coroutine=call,
        metadata={"mcp_server": server},
    )

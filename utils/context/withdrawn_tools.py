"""Tools that a conversation called and that are offered no more: an MCP server was removed, an agent renamed, or a model made a name up.

Providers may refuse a request whose history has a call of a tool that it does not declare, and all of a conversation's later
requests have that history.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any

from langchain_core.messages import BaseMessage

from utils.messages.transcript import tool_names

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every provider takes for the name of a tool; repairs leave no other in a history."""

MOST_TOOLS = 128
"""Tools that OpenAI takes in one request at most."""
NOT_OFFERED = "Not available any more: do not call it."


def withdrawn_tools(
    messages: Iterable[BaseMessage], tools: Sequence[Any], forms: Collection[str] = ()
) -> list[dict[str, Any]]:
    """A declaration for each tool that was called and is not offered, in the form of OpenAI, which all clients convert.

    A call of one is answered as that of any unknown tool. Where a request has no room for all, those that were called first are left out.

    Args:
        messages: The conversation.
        tools: What the request offers.
        forms: Names of the tools by which a structured answer is given, which LangChain declares by itself.
    """
    offered = {*map(_name, tools), *forms}
    called = dict.fromkeys(name for name in tool_names(messages) if name not in offered)
    room = max(0, MOST_TOOLS - len(tools))
    return [_declaration(name) for name in called if _NAME.fullmatch(name)][-room:] if room else []


def _name(tool: Any) -> str:
    if isinstance(tool, dict):
        return str(tool.get("name") or tool.get("function", {}).get("name"))
    return str(tool.name)


@lru_cache(maxsize=256)
def _declaration(name: str) -> dict[str, Any]:
    """The same object each time, by which its tokens are known."""
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": NOT_OFFERED,
            "parameters": {"type": "object", "properties": {}},
        },
    }

"""Refuses tools that could not work when an agent starts, in place of failing in the middle of a conversation. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any

from utils.errors import SettingsError

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""Names of tools that OpenAI, Anthropic and Bedrock take."""
_TAKEN = ("self", "config", "run_manager")
"""Arguments that LangChain cannot pass on to a function, or in whose place it puts something of its own."""
_FILLED = ("callbacks", "runtime")
"""Arguments that LangChain and LangGraph fill where a function or a model of the arguments names them. Those of one that takes
whatever comes, as the tools of an OpenAPI description do, arrive."""

_UNWRITABLE = "the schema of its arguments cannot be written as JSON"


def check_tools(agent: str, tools: Sequence[BaseTool]) -> None:
    """Check all tools of an agent, those of its middleware included.

    Raises:
        SettingsError: One of them cannot work; the message names it and the reason.
    """
    for tool in tools:
        try:
            why = _fault(tool)
        except Exception as error:
            raise _unusable(agent, tool, f"{_UNWRITABLE} ({type(error).__name__})") from error
        if why:
            raise _unusable(agent, tool, why)
    (name, count), *_ = Counter(tool.name for tool in tools).most_common(1) or [("", 0)]
    if count > 1:
        raise SettingsError("tools", f"The agent {agent} has {count} tools of the name {name!r}: rename one.")


def _unusable(agent: str, tool: BaseTool, why: str) -> SettingsError:
    return SettingsError("tools", f"The tool {tool.name!r} of the agent {agent} cannot be used: {why}.")


def _fault(tool: BaseTool) -> str:
    """Why a tool cannot work; empty where it can."""
    if not _NAME.fullmatch(tool.name):
        return "its name must be 1 to 64 letters without accents, digits, underscores and hyphens"
    schema = _schema(tool)
    if schema.get("type", "object") != "object":
        return "its arguments are not an object"
    taken = [name for name in schema.get("properties", {}) if _is_taken(tool, name)]
    if taken:
        return f"LangChain uses the name of its argument {taken[0]!r} itself, so that it would not arrive; rename it"
    return ""


def _is_taken(tool: BaseTool, argument: str) -> bool:
    """Whether an argument of this name would not arrive as the model sent it."""
    from langchain_core.tools import StructuredTool

    if not isinstance(tool, StructuredTool):
        return False
    if argument == "runtime" and not isinstance(tool.args_schema, dict):
        return True
    named = [name for each in (tool.func, tool.coroutine) if each for name in signature(each).parameters]
    return argument in _TAKEN or (argument in _FILLED and argument in named)


def _schema(tool: BaseTool) -> dict[str, Any]:
    """The schema of the arguments that a model fills."""
    schema: Any = tool.tool_call_schema
    if isinstance(schema, dict):
        return schema
    write = (
        getattr(schema, "model_json_schema", None) or schema.schema
    )  # models of pydantic 1 have that alone
    return dict(write())

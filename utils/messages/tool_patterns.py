"""Tools whose functions are closures: the models of their arguments are made once in a process.

An agent that is built again has the same tools on other stores. LangChain takes longer to make the model of a tool's arguments than
to do all the rest of building the agent's graph, and the model says nothing of a store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, cast

from langchain_core.tools import BaseTool, StructuredTool

_PATTERNS: dict[tuple[object, ...], StructuredTool] = {}
"""Tools without what they run, by all that their models of arguments follow from. They are as many as such functions are written."""


def patterned(
    run: Callable[..., Any],
    *,
    metadata: Mapping[str, Any],
    description: str | None = None,
    kind: type[StructuredTool] = StructuredTool,
) -> BaseTool:
    """A tool that runs an async function, with the name and the signature of it.

    Args:
        run: The function. Of those that one `def` makes, all have the arguments of the first.
        metadata: The tool's own.
        description: Its description; `None` for the docstring of the function.
        kind: Its class.
    """
    key = (kind, description, cast("FunctionType", run).__code__)
    if key not in _PATTERNS:
        made = kind.from_function(coroutine=run, description=description)
        _ = made.tool_call_schema  # which LangChain keeps, for copies too
        _PATTERNS[key] = made.model_copy(update={"coroutine": None})
    return _PATTERNS[key].model_copy(update={"coroutine": run, "metadata": dict(metadata)})

"""A tool that ends the program, as functions of command-line libraries do, ends its own call alone."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool


class ToolExited(Exception):
    """A tool called `sys.exit`."""


def contained(tool: BaseTool) -> BaseTool:
    """The tool, whose coroutine raises `ToolExited` in place of `SystemExit`.

    LangChain runs a coroutine in a task of its own, and the event loop lets `SystemExit` of a task end the program, whoever waits for it.
    """
    if not isinstance(tool, StructuredTool) or tool.coroutine is None:
        return tool
    return tool.model_copy(update={"coroutine": _contained(tool.coroutine)})


def _contained(function: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(function)
    async def call(*args: Any, **named: Any) -> Any:
        try:
            return await function(*args, **named)
        except SystemExit as error:
            raise ToolExited(f"exit code {error.code}") from error

    return call

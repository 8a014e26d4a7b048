"""A tool whose call cannot affect others: anything that it raises ends this call only, and a hanging one without `async` occupies no shared thread."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, Tool

from utils.a2a_common.graph.tools.result import usable
from utils.a2a_common.graph.tools.thread import in_own_thread
from utils.a2a_common.tasks.third_party_code import third_party_code
from utils.messages.marks import SHAPE
from utils.messages.results import Result, ResultText, dump_result


def contained(tool: BaseTool, call_id: str = "") -> BaseTool:
    """The tool, run in a thread of its own if it is not `async`; anything that it raises becomes an `Exception`.

    LangChain runs a coroutine in a task of its own, and any other function in the pool of the event loop.

    Args:
        tool: The tool.
        call_id: The call that it is made for: a type of `utils.messages.results`, or the text that `dump_result` makes of one, becomes the
            message of the call, which says which type it is. Without an id it becomes the text.
    """
    if isinstance(tool, StructuredTool | Tool):
        if tool.coroutine is None and tool.func is None:
            return tool
        run = tool.coroutine or _threaded(tool.name, tool.func)
        return tool.model_copy(update={"coroutine": _contained(run, tool.name, call_id)})
    copied = tool.model_copy()
    own = type(tool)._arun is not BaseTool._arun  # noqa: SLF001 - whether its class has one
    run = copied._arun if own else _threaded(tool.name, copied._run)  # noqa: SLF001
    object.__setattr__(copied, "_arun", _contained(run, tool.name, call_id))
    return copied


def _threaded(name: str, function: Callable[..., Any] | None) -> Callable[..., Awaitable[Any]]:
    assert function is not None

    @functools.wraps(function)
    async def call(*args: Any, **named: Any) -> Any:
        if (manager := named.get("run_manager")) is not None:
            named["run_manager"] = manager.get_sync()
        return await in_own_thread(name, function, *args, **named)

    return call


def _contained(
    function: Callable[..., Awaitable[Any]], name: str, call_id: str
) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(function)
    async def call(*args: Any, **named: Any) -> Any:
        with third_party_code():
            return _tool_message(usable(await function(*args, **named)), name, call_id)

    return call


def _tool_message(result: Any, name: str, call_id: str) -> Any:
    """A tool's result as its message; LangChain would convert it to text, which loses its type."""
    text = dump_result(result) if isinstance(result, Result) else result
    if not call_id or not isinstance(text, ResultText):
        return text
    return ToolMessage(str(text), tool_call_id=call_id, name=name, additional_kwargs=SHAPE.entry(text.shape))

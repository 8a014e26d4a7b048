"""A tool whose call can cost no other: whatever it raises ends the call alone, and one without `async` that hangs takes no thread of others."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, Tool

from utils.a2a_common.graph.tool_thread import in_own_thread


class ToolExited(Exception):
    """A tool called `sys.exit`."""


class ToolRaised(Exception):
    """A tool raised what is no `Exception`, such as an exception group or a `GeneratorExit`."""


def contained(tool: BaseTool) -> BaseTool:
    """The tool, which runs in a thread of its own where it is not `async`, and raises an `Exception` whatever its code raises.

    A cancellation and `KeyboardInterrupt` stay what they are.

    LangChain runs a coroutine in a task of its own, and the event loop lets `SystemExit` of a task end the program, whoever waits for it. What
    is no coroutine it runs in the pool of the event loop.
    """
    if isinstance(tool, StructuredTool | Tool):
        if tool.coroutine is None and tool.func is None:
            return tool
        run = tool.coroutine or _threaded(tool.name, tool.func)
        return tool.model_copy(update={"coroutine": _contained(run)})
    copied = tool.model_copy()
    own = type(tool)._arun is not BaseTool._arun  # noqa: SLF001 - whether its class has one
    run = copied._arun if own else _threaded(tool.name, copied._run)  # noqa: SLF001
    object.__setattr__(copied, "_arun", _contained(run))
    return copied


def _threaded(name: str, function: Callable[..., Any] | None) -> Callable[..., Awaitable[Any]]:
    assert function is not None

    @functools.wraps(function)
    async def call(*args: Any, **named: Any) -> Any:
        if (manager := named.get("run_manager")) is not None:
            named["run_manager"] = manager.get_sync()
        return await in_own_thread(name, function, *args, **named)

    return call


def _contained(function: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(function)
    async def call(*args: Any, **named: Any) -> Any:
        task = _task()
        try:
            return await function(*args, **named)
        except (Exception, asyncio.CancelledError):
            raise
        except SystemExit as error:
            raise ToolExited(f"exit code {error.code}") from error
        except BaseException as error:
            if task is None or task is not _task() or _is_for_the_program(error):
                raise
            if task.cancelling():
                raise asyncio.CancelledError from error
            raise ToolRaised(type(error).__name__) from error

    return call


def _task() -> asyncio.Task[Any] | None:
    """The task that runs; `None` where nothing does, as where a call that never ended is closed by a `GeneratorExit`."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _is_for_the_program(error: BaseException) -> bool:
    """Whether it is meant for the whole program."""
    if isinstance(error, BaseExceptionGroup):
        return error.subgroup(KeyboardInterrupt) is not None
    return isinstance(error, KeyboardInterrupt)

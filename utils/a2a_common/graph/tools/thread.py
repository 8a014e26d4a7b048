"""Runs a tool without `async` in a thread of its own.

A thread cannot be stopped: a call that hangs keeps it until it returns, if ever. In a pool, calls that hang would in time leave no thread for any
other, and the process would wait for them at its end. A daemon thread per call affects no other call, and ends with the process.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import structlog

from utils.errors import ToolTimeout

T = TypeVar("T")

log = structlog.get_logger(__name__)

MOST_LEFT = 50
"""Abandoned calls that may still run before no further call is started: each thread keeps its memory and its open files."""

NOT_RUN = (
    "The tool {tool} was not run: {left} tool calls that were given up are still running. Restart the agent."
)

_left: set[threading.Thread] = set()


async def in_own_thread(tool: str, function: Callable[..., T], *args: Any, **named: Any) -> T:
    """Call a function in a new thread, in a copy of this context; return or raise its outcome.

    If the wait is canceled, as after a tool's time-out, the thread continues, and its result is dropped.

    Raises:
        ToolTimeout: Too many abandoned calls are still running.
    """
    if len(_left) >= MOST_LEFT:
        raise ToolTimeout(NOT_RUN.format(tool=tool, left=len(_left)))
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[T] = loop.create_future()
    work = partial(contextvars.copy_context().run, function, *args, **named)
    thread = threading.Thread(target=_work, args=(work, loop, ended), name=f"tool-{tool}", daemon=True)
    thread.start()
    try:
        return await ended
    finally:
        if (not ended.done() or ended.cancelled()) and thread.is_alive():
            _left.add(thread)
            log.warning("tool.left_running", tool=tool, left=len(_left))


def _work(work: Callable[[], T], loop: asyncio.AbstractEventLoop, ended: asyncio.Future[T]) -> None:
    result: Any = None
    failure: BaseException | None = None
    try:
        result = work()
    except StopIteration as error:  # a future does not accept it
        failure = RuntimeError("The tool raised StopIteration.")
        failure.__cause__ = error
    except BaseException as error:  # noqa: BLE001 - it is raised where the call is waited for
        failure = error
    try:
        loop.call_soon_threadsafe(_set_outcome, ended, result, failure, threading.current_thread())
    except RuntimeError:  # the loop is closed: nothing waits for the result
        _left.discard(threading.current_thread())


def _set_outcome(
    ended: asyncio.Future[T], result: T, failure: BaseException | None, thread: threading.Thread
) -> None:
    thread.join()  # returns at once: the call was its last step
    _left.discard(thread)
    if ended.done():
        return
    if failure is not None:
        ended.set_exception(failure)
    else:
        ended.set_result(result)

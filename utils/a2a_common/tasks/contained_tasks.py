"""Tasks of the event loop that cannot end the process: a `SystemExit` or `KeyboardInterrupt` of one ends that task alone, and is logged.

In any task, both end the whole program. Code of an agent, or of a library that it uses, may start a task that is never
awaited, and a `sys.exit` in it would end all users' conversations without a message. Any other exception stays in its
task anyway.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any

import structlog

from utils.a2a_common.tasks.third_party_code import CodeExited, CodeRaised

log = structlog.get_logger(__name__)


def contain_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Let no task that is made from now on end the process. The one that runs, which is the program's own, still may.

    Control-C must have a handler by then: else it might be taken for an interrupt of a task.
    """
    loop.set_task_factory(_contained_task)


def _contained_task(
    loop: asyncio.AbstractEventLoop,
    work: Coroutine[Any, Any, Any] | Generator[Any, None, Any],
    **options: Any,
) -> asyncio.Task[Any]:
    contained = _Contained(work) if isinstance(work, Coroutine) else work
    return asyncio.Task(contained, loop=loop, **options)


class _Contained(Coroutine[Any, Any, Any]):
    """A coroutine that turns what would end the process into an `Exception`; else it looks like the one within.

    No coroutine around it: one that is canceled before it began would leave that within without an end.
    """

    __slots__ = ("_send", "_work")

    def __init__(self, work: Coroutine[Any, Any, Any]) -> None:
        self._work = work
        self._send = work.send

    def send(self, value: Any) -> Any:
        """Go on to the next wait."""
        try:
            return self._send(value)
        except (SystemExit, KeyboardInterrupt) as error:
            raise self._contained(error) from error

    def throw(self, *error: Any) -> Any:
        """Go on with an error."""
        try:
            return self._work.throw(*error)
        except (SystemExit, KeyboardInterrupt) as raised:
            raise self._contained(raised) from raised

    def close(self) -> None:
        """End it."""
        self._work.close()

    def __await__(self) -> Generator[Any, None, Any]:
        return self._work.__await__()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)

    def _contained(self, error: BaseException) -> Exception:
        """Log the exception that would have ended the process; return the one that ends the task instead."""
        log.error("task.exit_contained", task=getattr(self._work, "__qualname__", ""), exc_info=error)
        return (
            CodeExited(f"exit code {error.code}")
            if isinstance(error, SystemExit)
            else CodeRaised("KeyboardInterrupt")
        )

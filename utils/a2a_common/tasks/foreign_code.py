"""Somebody else's code in a task of the event loop: whatever it raises arrives as an `Exception`, so that it ends its own work alone.

The event loop lets `SystemExit` and `KeyboardInterrupt` of a task end the program, whoever waits for that task. Neither is meant when such code
raises one: it was written to be a program of its own, or calls a library that was. Control-C does not come this way. A signal reaches the handler of
the process, which stops it in order.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Self


class CodeExited(Exception):
    """It called `sys.exit`."""


class CodeRaised(Exception):
    """It raised what is no `Exception`, such as a `KeyboardInterrupt`, an exception group or a `GeneratorExit`."""


class foreign_code:  # noqa: N801 - read as a word of the `with` statement
    """A block that calls such code. A cancellation stays one, and so does the end of a coroutine that nobody runs any more.

    Raises:
        CodeExited: The code called `sys.exit`.
        CodeRaised: It raised something else that is no `Exception`.
    """

    def __init__(self) -> None:
        self._task = _task()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del kind, trace
        if error is None or isinstance(error, Exception | asyncio.CancelledError):
            return
        if isinstance(error, SystemExit):
            raise CodeExited(f"exit code {error.code}") from error
        if self._task is None or self._task is not _task():
            return
        if self._task.cancelling():
            raise asyncio.CancelledError from error
        raise CodeRaised(type(error).__name__) from error


def _task() -> asyncio.Task[Any] | None:
    """The task that runs; `None` where nothing does, as where a call that never ended is closed by a `GeneratorExit`."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None

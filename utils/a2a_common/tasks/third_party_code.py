"""Runs third-party code in a task of the event loop: whatever it raises becomes an `Exception`, so that only its own work ends.

A `SystemExit` or `KeyboardInterrupt` in a task ends the whole program, even if somebody awaits the task. Third-party code that raises one does not
mean that: it was written as a program of its own, or calls such a library. Ctrl-C does not arrive this way: its signal reaches the process's handler,
which stops the process in order.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Self


class CodeExited(Exception):
    """The code called `sys.exit`."""


class CodeRaised(Exception):
    """The code raised something that is not an `Exception`, such as a `KeyboardInterrupt`, an exception group or a `GeneratorExit`."""


class third_party_code:  # noqa: N801 - read as a word of the `with` statement
    """Context manager around third-party code: converts `SystemExit` and every other `BaseException` into an `Exception`.

    `CancelledError`, and the `GeneratorExit` of an abandoned coroutine, pass unchanged.

    Raises:
        CodeExited: The code called `sys.exit`.
        CodeRaised: It raised something else that is not an `Exception`.
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
    """The running task; `None` if there is none, for example when an abandoned call is closed by a `GeneratorExit`."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None

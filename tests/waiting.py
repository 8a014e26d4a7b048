"""Pytest plugin: a test that failed, above all one that ran out of time, shows what each task of asyncio waited for.

The stack of the thread ends in the event loop, whatever it is that never comes.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import pytest

MOST = 30
"""Tasks shown: a test with several agents has about ten."""

_NEXT = ("cr_await", "ag_await", "gi_yieldfrom")
_FRAME = ("cr_frame", "ag_frame", "gi_frame")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Any:
    report = yield
    if report.failed and call.when == "call" and (found := waits()):
        report.sections.append(("What tasks wait for", "\n".join(found)))
    return report


def waits() -> list[str]:
    """A line for each task that has not ended: its name, and where it waits, the innermost last."""
    tasks = [each for each in gc.get_objects() if issubclass(type(each), asyncio.Task) and not each.done()]
    return [f"{task.get_name()}: {' > '.join(_places(task.get_coro()))}" for task in tasks[:MOST]]


def _places(awaited: object) -> Iterator[str]:
    while awaited is not None:
        frame = _first(awaited, _FRAME)
        if frame is None:
            yield type(awaited).__name__
            return
        yield f"{frame.f_code.co_qualname} {frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"
        awaited = _first(awaited, _NEXT)


def _first(awaited: object, names: tuple[str, ...]) -> Any:
    return next((found for name in names if (found := getattr(awaited, name, None)) is not None), None)

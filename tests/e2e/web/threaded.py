"""Serves something in a thread of its own: Playwright's loop and that of a server do not share one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TypeVar

T = TypeVar("T")

START_SECONDS = 90


@contextmanager
def in_thread(opened: Callable[[], AbstractAsyncContextManager[T]]) -> Iterator[T]:
    """What an asynchronous context gives, while it is open in a thread; an error of it is raised here."""
    found: list[T] = []
    failed: list[BaseException] = []
    ended: list[Callable[[], object]] = []
    up = threading.Event()

    async def serve() -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        ended.append(lambda: loop.call_soon_threadsafe(stop.set))
        async with opened() as value:
            found.append(value)
            up.set()
            await stop.wait()

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            failed.append(error)
        finally:
            up.set()

    thread = threading.Thread(target=run, name="served")
    thread.start()
    try:
        assert up.wait(START_SECONDS), "it did not start"
        if found:
            yield found[0]
    finally:
        if ended and thread.is_alive():
            ended[0]()
        thread.join(START_SECONDS)
    if failed:
        raise failed[0]

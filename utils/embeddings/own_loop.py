"""Runs the requests of remote embedders on one event loop, in a thread of its own.

The connections of a client belong to one event loop, but callers come from the loops of several commands and from plain threads. In a pool
of threads, requests to a server that never answers would in time leave no thread for anybody else, and the end of the process would
wait for them. Here a request that waits holds no thread, ends when its caller gives up, and keeps no process alive.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")

_starting = threading.Lock()


async def run(work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns or raises on that loop. A cancellation ends it there."""
    return await asyncio.wrap_future(_submitted(work))


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """The same for a plain thread, which waits."""
    submitted = _submitted(work)
    try:
        return submitted.result()
    finally:
        submitted.cancel()  # for an interrupt of the wait; what has ended stays as it is


def begin(work: Callable[[], Coroutine[Any, Any, object]]) -> None:
    """Run a coroutine there that nobody waits for, such as the end of a client."""
    _submitted(work())


async def in_own_thread(call: Callable[[], T]) -> T:
    """What a blocking call returns or raises, in a new thread that no end of the process waits for.

    Where the wait is canceled, the thread goes on until the call returns, and what it returns is dropped.
    """
    ended: Future[T] = Future()
    threading.Thread(target=_fulfil, args=(ended, call), name="embeddings-call", daemon=True).start()
    return await asyncio.wrap_future(ended)


def _fulfil(ended: Future[T], call: Callable[[], T]) -> None:
    if not ended.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except Exception as error:  # noqa: BLE001 - it is raised where the call is waited for
        ended.set_exception(error)
    else:
        ended.set_result(result)


def _submitted(work: Coroutine[Any, Any, T]) -> Future[T]:
    with _starting:
        loop = _loop()
    return asyncio.run_coroutine_threadsafe(work, loop)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="embeddings", daemon=True).start()
    return loop

"""A store with faults: every asynchronous method of a real one goes through the network of the simulation."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from contextvars import Context
from typing import Any, TypeVar

from benchmarks.simulate.faults import Fault, Faults, Outcome
from benchmarks.simulate.process import Process

StoreT = TypeVar("StoreT")
ErrorOf = Callable[[str], Exception]

READS = frozenset(
    {
        "look",
        "events",
        "page",
        "unfinished",
        "rows",
        "writable",
        "open",
        "close",
        "get",
        "list",
        "aget_tuple",
        "aget",
        "alist",
    }
)
"""Methods of stores that change nothing. All others are done one after the other, as one writing connection does them."""


class Link:
    """The way from one process to the stores.

    An operation is done outside of the process, so that it is done although its caller was cancelled or died meanwhile: or,
    by lot, it is lost with its caller. Its answer never reaches a dead process.

    Args:
        process: The process.
        faults: Deals the faults.
        error_of: Makes the error of a failed operation.
        pooled: Whether there are several connections, so that no operation waits for another.
    """

    def __init__(self, process: Process, faults: Faults, error_of: ErrorOf, *, pooled: bool = False) -> None:
        self._pooled = pooled
        self.process = process
        self.faults = faults
        self.error_of = error_of
        self._last_write: asyncio.Future[None] | None = None

    async def call(self, name: str, work: Callable[[], Any]) -> Any:
        """Do an operation of a store, with its fault.

        Raises:
            Exception: What `error_of` makes, where it failed or its answer was lost.
        """
        if self.process.dead:
            await asyncio.get_running_loop().create_future()
        fault = self.faults.deal(self.process.name, name)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().create_task(self._do(fault, name, work, answer), context=Context())
        return await answer

    async def _do(
        self, fault: Fault, name: str, work: Callable[[], Any], answer: asyncio.Future[Any]
    ) -> None:
        dies_with_caller = self.faults.lots.random() < 0.5
        result, error = None, None
        async with self._in_order(name):
            if fault.before:
                await asyncio.sleep(fault.before)
            if self.process.dead and dies_with_caller:
                return
            if fault.outcome is not Outcome.FAILED:
                try:
                    result = await work()
                except Exception as refused:  # noqa: BLE001 - it is the caller's
                    error = refused
        if fault.after:
            await asyncio.sleep(fault.after)
        if self.process.dead or answer.done():
            return
        if fault.outcome is not Outcome.ANSWERED:
            error = self.error_of(f"{name}: {fault.outcome.value}")
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(result)

    @asynccontextmanager
    async def _in_order(self, name: str) -> AsyncGenerator[None, None]:
        """Writes of one process are done in the order in which they were asked for."""
        if self._pooled or name in READS:
            yield
            return
        before, done = self._last_write, asyncio.get_running_loop().create_future()
        self._last_write = done
        try:
            if before is not None:
                await asyncio.wait([before])
            yield
        finally:
            done.set_result(None)


def faulty(store: StoreT, link: Link) -> StoreT:
    """A store of the same class and with the same content, whose asynchronous methods go over `link`."""
    methods: dict[str, Any] = {}
    for name, method in inspect.getmembers(type(store), inspect.isfunction):
        if name.startswith("_") or name in {"open", "close"}:
            continue
        if inspect.iscoroutinefunction(method):
            methods[name] = _calling(store, link, name)
        elif inspect.isasyncgenfunction(method):
            methods[name] = _reading(store, link, name)
    kind = type(f"Faulty{type(store).__name__}", (type(store),), {"__slots__": (), **methods})
    proxy: StoreT = object.__new__(kind)
    proxy.__dict__ = store.__dict__
    return proxy


def _calling(store: object, link: Link, name: str) -> Callable[..., Any]:
    real = getattr(store, name)

    async def call(_self: object, *args: Any, **named: Any) -> Any:
        return await link.call(name, lambda: real(*args, **named))

    return call


def _reading(store: object, link: Link, name: str) -> Callable[..., Any]:
    real = getattr(store, name)

    async def read(_self: object, *args: Any, **named: Any) -> AsyncGenerator[Any, None]:
        source = real(*args, **named)
        while True:
            try:
                yield await link.call(name, source.__anext__)
            except StopAsyncIteration:
                return

    return read

"""`DrainingServer`: uvicorn's server, which drains its agent on SIGTERM before it closes its sockets."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from socket import socket
from types import FrameType

import uvicorn

from utils.processes.garbage import look_seldom


class DrainingServer(uvicorn.Server):
    """Drains before it closes its sockets. A second signal ends it at once.

    Args:
        config: Of the server.
        drain: Awaited once, at the first signal.
        on_signal: Called at each signal once the server has begun to start.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        drain: Callable[[], Awaitable[None]],
        on_signal: Callable[[], object] = bool,
    ) -> None:
        super().__init__(config)
        self._drain = drain
        self._on_signal = on_signal
        self._loop: asyncio.AbstractEventLoop | None = None
        self._draining: asyncio.Task[None] | None = None
        self._signaled = False

    async def serve(self, sockets: list[socket] | None = None) -> None:
        """Serve until a signal."""
        self._loop = asyncio.get_running_loop()
        await super().serve(sockets)

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Begin to serve. Objects created until now are excluded from garbage collection: scanning them would block the event loop for a sixth of a second."""
        await super().startup(sockets)
        gc.freeze()
        look_seldom()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain and then exit; exit at once if it drains already or serves nothing yet."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._on_signal)
        if self._signaled or self._loop is None or not self.started:
            super().handle_exit(sig, frame)
            return
        self._signaled = True
        self._loop.call_soon_threadsafe(self._begin, sig, frame)

    def _begin(self, sig: int, frame: FrameType | None) -> None:
        self._draining = asyncio.ensure_future(self._drain_and_exit(sig, frame))

    async def _drain_and_exit(self, sig: int, frame: FrameType | None) -> None:
        try:
            await self._drain()
        finally:
            super().handle_exit(sig, frame)

"""`Drain`: how an agent's process stops taking work, and `DrainingServer`, which does so on SIGTERM."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import FrameType

import structlog
import uvicorn

from utils.a2a_common.engine.contract import Engine

log = structlog.get_logger(__name__)


class Drain:
    """Stops taking work in this order: not ready, a pause, no new turns, the running ones finish or are kept.

    Args:
        engine: Runs the turns.
        pause: Seconds in which load balancers learn that the agent is not ready. New turns are still taken.
        grace: Seconds in which running turns may finish.

    Attributes:
        begun: Whether it has begun, so that the agent is not ready.
    """

    def __init__(self, engine: Engine, *, pause: float, grace: float) -> None:
        self._engine = engine
        self._pause = pause
        self._grace = grace
        self.begun = False

    async def __call__(self) -> None:
        """Do so. When this returns, no turn runs any more, and the streams of those that are kept have ended."""
        self.begun = True
        log.info("server.draining", pause=self._pause, grace=self._grace)
        await asyncio.sleep(self._pause)
        await self._engine.drain(self._grace)
        log.info("server.drained")


class DrainingServer(uvicorn.Server):
    """Drains before it closes its sockets. A second signal ends it at once.

    Args:
        config: Of the server.
        drain: Awaited once, at the first signal.
    """

    def __init__(self, config: uvicorn.Config, drain: Callable[[], Awaitable[None]]) -> None:
        super().__init__(config)
        self._drain = drain
        self._loop: asyncio.AbstractEventLoop | None = None
        self._draining: asyncio.Task[None] | None = None
        self._signaled = False

    async def serve(self, sockets: list[object] | None = None) -> None:
        """Serve until a signal."""
        self._loop = asyncio.get_running_loop()
        await super().serve(sockets)  # type: ignore[arg-type]

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain and then exit; exit at once where that is under way or nothing is served yet."""
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

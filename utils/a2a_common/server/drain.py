"""`Drain`: how an agent stops taking work."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog

from utils.a2a_common.engine.turn_engine import TurnEngine
from utils.a2a_common.engine.unfinished_turns import resubscribe_status
from utils.a2a_common.tasks.other_replicas import OtherReplicas

log = structlog.get_logger(__name__)


class Drain:
    """Stops taking work in this order: not ready, a pause, no new turns, the running ones finish or are kept.

    Args:
        engine: Runs the turns.
        other_replicas: Follows the turns that other processes run.
        pause: Seconds in which load balancers learn that the agent is not ready. New turns are still taken.
        grace: Seconds in which running turns may finish.

    Attributes:
        begun: Whether it has begun, so that the agent is not ready.
    """

    def __init__(
        self, engine: TurnEngine, other_replicas: OtherReplicas, *, pause: float, grace: float
    ) -> None:
        self._engine = engine
        self._other_replicas = other_replicas
        self._pause = pause
        self._grace = grace
        self.begun = False
        self._ended = False

    def left(self) -> Sequence[str]:
        """Tasks of which it is not known that all they did is stored."""
        return [] if self._ended else sorted(self._engine.suspended)

    async def __call__(self) -> None:
        """Drain the agent. Afterwards no turn runs, and the streams of the turns that will be resumed have ended."""
        self.begun = True
        log.info("server.draining", pause=self._pause, grace=self._grace)
        await asyncio.sleep(self._pause)
        await self._engine.drain(self._grace)
        self._ended = True
        self._other_replicas.cut(resubscribe_status)
        log.info("server.drained")

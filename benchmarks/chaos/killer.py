"""Kills the worker in the middle of its work, and starts it again."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from benchmarks.chaos.brain import ChaosBrain
from benchmarks.chaos.server_process import ServerProcess
from benchmarks.chaos.tally import Tally

RECOVERY_SECONDS = 60.0
"""After its restart an agent must be used again within this time. A refresh of the registry is enough, a second here."""

_LONGEST_AIM = 0.2
"""Most seconds between the worker's model being asked and the kill."""


class Killer:
    """Kills evenly over the run, each time at a random moment of a turn.

    Args:
        worker: The process.
        times: How often.
        seed: Decides the moments.
        is_used: Asks the supervisor for something that only the worker can do; whether it was done.

    Attributes:
        up: Set while the worker is up. No conversation begins without it: those that are under way meet its absence.
    """

    def __init__(
        self, worker: ServerProcess, times: int, seed: int, is_used: Callable[[], Awaitable[bool]]
    ) -> None:
        self._worker = worker
        self._is_used = is_used
        self._times = times
        self._dice = random.Random(seed)
        self._at_work = asyncio.Event()
        self._restarting = asyncio.Lock()
        self.up = asyncio.Event()
        self.up.set()
        self._down: list[tuple[float, float]] = []

    def watch(self, brain: ChaosBrain) -> None:
        """Learn from the model's double when the worker works."""
        loop = asyncio.get_running_loop()

        def at_work() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._at_work.set)

        brain.at_work = at_work

    async def run(self, progress: asyncio.Queue[int], conversations: int, tally: Tally) -> None:
        """Kill whenever another share of the conversations is done; ends after the last kill or with its task."""
        for kill in range(self._times):
            while await progress.get() < conversations * (kill + 0.5) / self._times:
                pass
            self._at_work.clear()
            await self._at_work.wait()
            await asyncio.sleep(self._dice.uniform(0, _LONGEST_AIM))
            async with self._restarting:
                tally.happened["killed"] += 1
                if not await self._restart():
                    tally.fault(
                        "unrecovered", f"The worker is up, but after {RECOVERY_SECONDS:g} s it is not used."
                    )

    async def finish(self, killing: asyncio.Task[None]) -> None:
        """End `run`, but not between a kill and the restart. Raises what `run` raised."""
        async with self._restarting:
            killing.cancel()
        with suppress(asyncio.CancelledError):
            await killing

    def disturbed(self, began: float, ended: float) -> bool:
        """Whether the worker was down, or not used again yet, at any time of a turn."""
        return any(down < ended and began < up for down, up in self._down)

    async def _restart(self) -> bool:
        killed = time.monotonic()
        self._down.append((killed, float("inf")))
        self.up.clear()
        await self._worker.kill()
        await self._worker.start()
        used = await self._used_again()
        self._down[-1] = (killed, time.monotonic())
        self.up.set()
        return used

    async def _used_again(self) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(RECOVERY_SECONDS):
                while not await self._is_used():  # noqa: ASYNC110 - asked over HTTP
                    await asyncio.sleep(0.2)
                return True
        return False

"""A replica in a process of its own, which a test kills or stops: it begins a turn and never ends it by itself."""

from __future__ import annotations

import asyncio
import sys

from tests.unit.engine.replicas import replica_at
from tests.unit.engine.turns import Executor, piece_of, status_of, task_of, turn
from utils.persistence.settings import DatabaseSettings


async def slow(context, queue) -> None:
    """An executor's work: the task, a piece of text, and no end until it is told to go on."""
    if context.current_task is None:
        await queue.enqueue_event(task_of(context))
    await queue.enqueue_event(status_of(context, "working"))
    await queue.enqueue_event(piece_of(context, "Begun."))
    print("begun", flush=True)
    try:
        while True:
            await asyncio.sleep(0.2)
            await queue.enqueue_event(piece_of(context, "More.", append=True))
    finally:
        print("stopped", flush=True)


async def main(url: str) -> None:
    settings = DatabaseSettings.load({"DATABASE_URL": url})
    async with replica_at(settings, Executor(slow, resumable=True), takeover=4) as replica:
        await replica.submit(turn("a"))
        await asyncio.sleep(3600)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))

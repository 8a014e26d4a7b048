"""What is left after the conversations: open tasks, sockets, tasks of event loops, lines in logs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

import httpx

from benchmarks.chaos.client import OPEN, Conversation, http_client, tasks_by_state
from benchmarks.chaos.conversation import reaches_everyone
from benchmarks.chaos.log_lines import closures, crashes, parsed
from benchmarks.chaos.server_process import Footprint, ServerProcess
from benchmarks.chaos.tally import Tally
from utils.testing.strict_provider import StrictProvider

SETTLE_SECONDS = 60.0
QUIET_SECONDS = 30.0
IDLE_SECONDS = 6.0
"""Servers close a connection that is idle for 5 s; a client's pool notices when it is used the next time."""

CALM_SECONDS = 3.0
"""How long the end of a turn may take: its pinned constraints are asked for after the answer."""

ALLOWED = Footprint(sockets=5, loop_tasks=4)
"""What an idle process has more than one that never worked: two connections to the model (a question may be asked in the
background of an answer), one to each of the two agents, one of the client that just asked, and their watchers."""


async def count_stuck(http: httpx.AsyncClient, urls: Mapping[str, str], tally: Tally) -> None:
    """Count the tasks that still work after a while, and print how all of them ended."""
    deadline = time.monotonic() + SETTLE_SECONDS
    for name, url in urls.items():
        counts = await tasks_by_state(http, url)
        while any(counts[state] for state in OPEN) and time.monotonic() < deadline:
            await asyncio.sleep(0.2)
            counts = await tasks_by_state(http, url)
        ends = (
            (state.removeprefix("TASK_STATE_").lower(), count) for state, count in counts.items() if count
        )
        print(f"tasks of {name}: {', '.join(f'{count} {state}' for state, count in ends)}", flush=True)
        if left := sum(counts[state] for state in OPEN):
            tally.fault("stuck", f"{left} at {name}", left)


async def count_leftovers(
    processes: Mapping[str, ServerProcess], before: Mapping[str, Footprint], talk: Conversation, tally: Tally
) -> None:
    """Count what a process has more than before the run, once its clients are gone.

    Every pool of connections is used before each look: one that is not would go on showing what its peer closed.
    """
    deadline = time.monotonic() + QUIET_SECONDS
    async with http_client() as http:
        while True:
            await asyncio.sleep(IDLE_SECONDS)
            if not await reaches_everyone(talk):
                print("an agent was not reached after the conversations", flush=True)
            after = await _calm(http, processes, before)
            more = {name: _more(before[name], after[name]) for name in processes}
            if not sum(more.values()) or time.monotonic() > deadline:
                break
    for name, left in more.items():
        print(f"{name}: {before[name]} before, {after[name]} after", flush=True)
        if left:
            tally.fault("leftover", f"{name}: {after[name]} after {before[name]}", left)


async def _calm(
    http: httpx.AsyncClient, processes: Mapping[str, ServerProcess], before: Mapping[str, Footprint]
) -> dict[str, Footprint]:
    """What the processes hold when the last turn has wholly ended, or still hold when the time for that is up."""
    deadline = time.monotonic() + CALM_SECONDS
    while True:
        after = {name: await process.footprint(http) for name, process in processes.items()}
        if not any(_more(before[name], after[name]) for name in processes) or time.monotonic() > deadline:
            return after
        await asyncio.sleep(0.1)


def _more(before: Footprint, after: Footprint) -> int:
    sockets, loop_tasks = (
        max(0, now - then - free) for then, now, free in zip(before, after, ALLOWED, strict=True)
    )
    return sockets + loop_tasks


async def stop_cleanly(processes: Mapping[str, ServerProcess], tally: Tally) -> None:
    """End the processes; one that does not end by itself, or not well, is left over."""
    for name, process in processes.items():
        if (code := await process.stop()) != 0:
            tally.fault("leftover", f"{name} ended with {code}")


def count_refusals(double: StrictProvider, tally: Tally, *, most_too_long: int) -> None:
    """Count requests that broke a provider's rule; some over its window are there on purpose, until it is learnt."""
    for refusal in double.rejections:
        tally.happened["too_long"] += refusal.rule == "window"
        if refusal.rule != "window" or tally.happened["too_long"] > most_too_long:
            tally.fault("rejected", f"{refusal.rule}: {refusal.message}")


def read_logs(processes: Mapping[str, ServerProcess], tally: Tally) -> None:
    """Count the lines on closed queues, and the errors that nobody injected."""
    for name, process in processes.items():
        lines = parsed(process.log.read_text(errors="replace").splitlines())
        for task, count in closures(lines).items():
            if count > 1:
                tally.fault("noisy", f"{name}, {task}: {count} lines")
        for crash in crashes(lines):
            tally.fault("crashed", f"{name}, {crash}")

"""The run: `python -m benchmarks.chaos N=1000 SEED=1`. The last line counts; 1 where anything went wrong."""

from __future__ import annotations

import asyncio
import logging
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

import httpx

from benchmarks.chaos import aftermath
from benchmarks.chaos.brain import ChaosBrain
from benchmarks.chaos.client import Conversation, http_client
from benchmarks.chaos.conversation import converse, reaches_worker
from benchmarks.chaos.killer import Killer
from benchmarks.chaos.orders import Step, deal, holds_everything
from benchmarks.chaos.server_process import ServerProcess
from benchmarks.chaos.stranger import stranger
from benchmarks.chaos.tally import Tally
from utils.testing.strict_provider import run_strict_provider

AT_ONCE = 16
CONVERSATIONS_A_KILL = 100
WINDOW = 6_000
TRIES = 4
"""How often a request may be refused for its length while the real window is learnt; then it is known for good."""
SETTINGS = {
    "LLM_MAX_OUTPUT_TOKENS": "300",
    "MAX_CONTEXT_TOKENS": str(2 * WINDOW),
    "TOOL_TIMEOUT_SECONDS": "1",
    "SUB_AGENT_TIMEOUT_SECONDS": "15",
    "SUB_AGENT_REFRESH_SECONDS": "1",
    "TURN_TIMEOUT_SECONDS": "60",
    "LOG_FORMAT": "json",
    "LOG_LEVEL": "WARNING",
}
SERVE_WORKER = ("-m", "utils.a2a_common.server.serve", "benchmarks.chaos.worker:Worker")
SERVE_SUPERVISOR = ("-m", "multi_agents.platform_engineer")


async def run(conversations: int, seed: int) -> Tally:
    """All conversations, and what was left over after them."""
    tally, brain, dealt = Tally(), ChaosBrain(), deal(conversations, seed)
    async with AsyncExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        double = stack.enter_context(run_strict_provider(brain, window=WINDOW))
        settings = {**double.environment("openai"), **SETTINGS}
        worker = ServerProcess(SERVE_WORKER, home / "worker", settings)
        away = await stack.enter_async_context(stranger())
        settings["SUB_AGENTS"] = f"worker={worker.url},stranger={away}"
        supervisor = ServerProcess(SERVE_SUPERVISOR, home / "supervisor", settings)
        processes = {"supervisor": supervisor, "worker": worker}
        for process in (worker, supervisor):
            stack.push_async_callback(process.kill)
            await process.start()
        async with http_client() as http:
            kills = max(1, conversations // CONVERSATIONS_A_KILL)
            looking = Conversation(http, supervisor.url)
            killer = Killer(worker, kills, seed, lambda: reaches_worker(looking))
            killer.watch(brain)
            before = {name: await process.footprint(http) for name, process in processes.items()}
            await converse_all(http, supervisor.url, dealt, tally, killer)
            urls = {name: process.url for name, process in processes.items()} | {"stranger": away}
            await aftermath.count_stuck(http, urls, tally)
            await aftermath.count_leftovers(processes, before, looking, tally)
        aftermath.count_refusals(double, tally, most_too_long=TRIES * AT_ONCE)
        await aftermath.stop_cleanly(processes, tally)
        aftermath.read_logs(processes, tally)
    tally.happened.update(brain.happened)
    if holds_everything(dealt):
        tally.demand_everything()
    return tally


async def converse_all(
    http: httpx.AsyncClient, url: str, dealt: list[list[Step]], tally: Tally, killer: Killer
) -> None:
    """The conversations, some at once, while the worker is killed now and then."""
    gate, progress = asyncio.Semaphore(AT_ONCE), asyncio.Queue[int]()
    done = 0

    async def one(number: int, steps: list[Step]) -> None:
        nonlocal done
        async with gate:
            await killer.up.wait()
            await converse(Conversation(http, url), number, steps, tally, killer)
        done += 1
        progress.put_nowait(done)

    killing = asyncio.create_task(killer.run(progress, len(dealt), tally))
    try:
        await asyncio.gather(*(one(number, steps) for number, steps in enumerate(dealt)))
    finally:
        await killer.finish(killing)


def main(arguments: list[str]) -> int:
    """Run and print the counts."""
    options = {"N": 1000, "SEED": 1} | {
        name: int(value) for name, _, value in (text.partition("=") for text in arguments) if value
    }
    logging.disable(logging.CRITICAL)  # of the stranger, whose line breaks on purpose
    began = time.monotonic()
    tally = asyncio.run(run(options["N"], options["SEED"]))
    print(f"{tally.injected()}; {time.monotonic() - began:.0f} s, seed {options['SEED']}")
    print(tally.verdict(options["N"]))
    return 1 if tally.wrong.total() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

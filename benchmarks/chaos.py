"""Conversations with everything that can go wrong: `python -m benchmarks.chaos N=1000 SEED=1`.

A real supervisor over a real sub-agent in a process of its own, both on the strict provider's double. At
random points: models that are busy, down, empty, broken off or say that the request is too long; tools that
fail, hang or ask; a sub-agent that is killed and started again; clients that leave or cancel. Each
conversation is told a secret at its beginning and asked for it at its end.

The last line counts: conversations whose last question was not answered correctly (lost), tasks without an
end (stuck), requests that broke a provider's rule (rejected), asyncio tasks and sockets that stayed
(leftover), and tasks with more than one line on a closed queue (noisy).
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import structlog

from benchmarks.chaos_brain import MODEL_FAULTS, TOOL_KINDS, ChaosBrain
from benchmarks.chaos_client import INPUT_REQUIRED, Conversation, open_tasks
from utils.testing.live_server import loopback_socket
from utils.testing.strict_provider import StrictProvider, run_strict_provider

AT_ONCE = 8
KINDS = (*MODEL_FAULTS, *TOOL_KINDS, "long")
ACTIONS = ("send", "send", "send", "leave", "cancel")
SETTLE_SECONDS = 60.0
WINDOW = 6_000
_WATCHER = "_shutdown_watcher"  # sse-starlette's one task for each process, which waits for its signal
SETTINGS = {
    "LLM_MAX_RETRIES": "0",
    "LLM_MAX_OUTPUT_TOKENS": "300",
    "MAX_CONTEXT_TOKENS": str(2 * WINDOW),
    "TOOL_TIMEOUT_SECONDS": "1",
    "SUB_AGENT_TIMEOUT_SECONDS": "15",
    "SUB_AGENT_REFRESH_SECONDS": "1",
    "TURN_TIMEOUT_SECONDS": "60",
    "LOG_FORMAT": "json",
}


class WorkerProcess:
    """The sub-agent's process, which is killed and started again on the same port and data."""

    def __init__(self, home: Path, environ: Mapping[str, str]) -> None:
        with loopback_socket() as listener:
            self._port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        self._environ = {**os.environ, **environ, "PLATFORM_ENGINEER_HOME": str(home)}
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it and wait until it is ready."""
        command = ["-m", "utils.a2a_common.serve", "benchmarks.chaos_worker:Worker", "--exit-with-parent"]
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            *command,
            "--port",
            str(self._port),
            env=self._environ,
            stderr=asyncio.subprocess.DEVNULL,
        )
        ready, ended = asyncio.create_task(until_ready(self.url)), asyncio.create_task(self._process.wait())
        done, rest = await asyncio.wait([ready, ended], return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()
        if ended in done:
            raise RuntimeError(f"The sub-agent ended at its start, with code {ended.result()}.")
        await ready

    async def kill(self) -> None:
        """SIGKILL: no word of farewell."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()


async def until_ready(url: str) -> None:
    """Wait for a server's readiness."""
    async with httpx.AsyncClient(trust_env=False) as http, asyncio.timeout(120):
        while True:
            with suppress(httpx.TransportError):
                if (await http.get(f"{url}/readyz")).status_code == 200:
                    return
            await asyncio.sleep(0.05)


async def converse(talk: Conversation, number: int, seed: int) -> Counter[str]:
    """One conversation; counts what was done and whether its end was right."""
    dice = random.Random(seed * 1_000_003 + number)
    counts: Counter[str] = Counter(conversations=1)
    await talk.send(f"Remember secret-{number}.")
    for turn in range(dice.randint(1, 3)):
        kind, action = dice.choice(KINDS), dice.choice(ACTIONS)
        text = f"order-{number * 10 + turn} {kind}"
        counts.update({kind: 1, action: 1})
        if action == "leave":
            await talk.leave(text, dice.randint(1, 4))
        elif action == "cancel":
            await talk.cancel(text, dice.randint(1, 4))
        else:
            seen = await talk.send(text)
            if seen.state == INPUT_REQUIRED and dice.random() < 0.5:
                await talk.send("the blue one", task_id=seen.task_id)
    last = await talk.send("What is the secret?")
    expected = f"The secret is secret-{number}"
    if last.state != "TASK_STATE_COMPLETED" or last.text.strip() != expected:
        counts["lost"] += 1
        print(f"conversation {number}: {last.state} {last.text[:200]!r}")
    return counts


async def kill_now_and_then(worker: WorkerProcess, times: int, done: asyncio.Event) -> int:
    """Kill and restart the sub-agent until the conversations are done."""
    killed = 0
    while killed < times and not done.is_set():
        with suppress(TimeoutError):
            async with asyncio.timeout(5):
                await done.wait()
        await worker.kill()
        await worker.start()
        killed += 1
    return killed


@asynccontextmanager
async def service(double: StrictProvider, home: Path) -> AsyncIterator[tuple[str, WorkerProcess]]:
    """A supervisor in this process over the sub-agent in its own."""
    from multi_agents.platform_engineer.agent import PlatformEngineer
    from utils.testing.live_agent import running_agent

    environ = {**double.environment("openai"), **SETTINGS}
    worker = WorkerProcess(home / "worker", environ)
    await worker.start()
    try:
        settings = {**environ, "SUB_AGENTS": f"worker={worker.url}"}
        async with running_agent(PlatformEngineer, environ=settings, home=home / "supervisor") as url:
            await until_ready(url)
            yield url, worker
    finally:
        await worker.kill()


async def run(number: int, seed: int) -> Counter[str]:
    """All conversations, and what was left over after them."""
    closures = count_closures()
    tasks_before, sockets_before = asyncio.all_tasks(), sockets()
    async with AsyncExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        double = stack.enter_context(run_strict_provider(ChaosBrain(), window=WINDOW))
        url, worker = await stack.enter_async_context(service(double, home))
        http = await stack.enter_async_context(httpx.AsyncClient(timeout=120, trust_env=False))
        counts = await converse_all(http, url, worker, number=number, seed=seed)
        counts["stuck"] = await unsettled(http, url) + await unsettled(http, worker.url)
        refused = [rejection for rejection in double.rejections if rejection.rule != "window"]
        counts["rejected"] = len(refused)
        for rejection in refused[:5]:
            print(f"rejected: {rejection.rule}: {rejection.message}")
    counts["leftover"] = await left_over(tasks_before, sockets_before)
    counts["noisy"] = sum(lines > 1 for lines in closures.values())
    return counts


async def converse_all(
    http: httpx.AsyncClient, url: str, worker: WorkerProcess, *, number: int, seed: int
) -> Counter[str]:
    """The conversations, some at once, while the sub-agent is killed now and then."""
    gate, total, done = asyncio.Semaphore(AT_ONCE), Counter[str](), asyncio.Event()

    async def one(index: int) -> None:
        async with gate:
            total.update(await converse(Conversation(http, url), index, seed))

    killing = asyncio.create_task(kill_now_and_then(worker, max(1, number // 50), done))
    try:
        await asyncio.gather(*(one(index) for index in range(number)))
    finally:
        done.set()
        total["kills"] = await killing
    return total


async def unsettled(http: httpx.AsyncClient, url: str) -> int:
    """Tasks that still work after a while."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        left = await open_tasks(http, url)
        if not left or time.monotonic() > deadline:
            return left
        await asyncio.sleep(0.2)


async def left_over(tasks: set[asyncio.Task[Any]], most_sockets: int) -> int:
    """How many tasks and sockets stay after the service was closed."""
    deadline = time.monotonic() + 10
    while True:
        more = {
            task for task in asyncio.all_tasks() - tasks if not task.done() and _WATCHER not in repr(task)
        }
        left = len(more) + max(0, sockets() - most_sockets)
        if not left or time.monotonic() > deadline:
            for task in list(more)[:5]:
                print(f"left over: {task!r}")
            return left
        await asyncio.sleep(0.1)


def sockets() -> int:
    """Open sockets of this process."""
    found = 0
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found += str(entry.readlink()).startswith("socket:")
    return found


def count_closures() -> Counter[str]:
    """Silence the log, but count the lines on closed queues by task."""
    lines: Counter[str] = Counter()

    def processor(_logger: Any, _method: str, event: Any) -> Any:
        if event.get("message") == "Queue is closed":
            lines[str(event.get("task_id"))] += 1
        raise structlog.DropEvent

    structlog.configure(processors=[processor])
    logging.getLogger().addHandler(logging.NullHandler())
    logging.disable(logging.CRITICAL)
    return lines


def main(arguments: list[str]) -> int:
    """Run and print the counts; 1 where anything was lost, stuck, rejected, left over or noisy."""
    options = {"N": 1000, "SEED": 1} | {
        name: int(value) for name, _, value in (text.partition("=") for text in arguments) if value
    }
    began = time.monotonic()
    counts = asyncio.run(run(options["N"], options["SEED"]))
    kinds = ", ".join(f"{counts[name]} {name}" for name in (*KINDS, *dict.fromkeys(ACTIONS), "kills"))
    print(f"{kinds}; {time.monotonic() - began:.0f} s, seed {options['SEED']}")
    wrong = ("lost", "stuck", "rejected", "leftover", "noisy")
    print(", ".join(f"{counts[name]} {name}" for name in ("conversations", *wrong)))
    return 1 if any(counts[name] for name in wrong) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

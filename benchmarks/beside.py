"""What a delegated turn costs here beside another checkout, in one run: `python -m benchmarks.beside FOLDER [TURNS=150]`.

FOLDER is a checkout of another commit with its own `.venv`, such as a git worktree. Both serve the same scripted conversations at the
same time, so that what else the machine does weighs on both. Counted is the processor time of supervisor and worker, each with
all its threads and everything stored; the doubles of the models and the clients are not counted.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from benchmarks.chaos.server_process import Process, ServerProcess
from benchmarks.service.client import COMPLETED, Talk, http_client
from benchmarks.service.processes import ROOT, SETTINGS, ModelProcess
from benchmarks.service.script import SAY, TELL, WORK, WORKER, Order
from benchmarks.turn_cost import QUIET, cpu_seconds

SLICE = 8
UNTIMED = {"SUB_AGENT_REFRESH_SECONDS": "3600"}
"""Looks at the agents cost by the clock, and not by the turn."""

KINDS = {SAY: "direct", WORK: "delegated, answer passed on", TELL: "delegated, answer written"}
AT_ONCE = (1, 8)
STREAMED = (True, False)

Case = tuple[str, int, bool]


class Agent(ServerProcess):
    """An agent's process of a checkout, with the interpreter of that checkout."""

    def __init__(
        self, checkout: Path, arguments: tuple[str, ...], home: Path, environ: Mapping[str, str]
    ) -> None:
        super().__init__(arguments, home, environ)
        self._checkout = checkout

    async def launch(self, log: IO[bytes]) -> Process:
        """Start it in its checkout."""
        python = self._checkout / ".venv" / "bin" / "python"
        return await asyncio.create_subprocess_exec(
            python, "-m", *self._command, cwd=self._checkout, env=self._environ, stderr=log
        )


class Side:
    """The service of one checkout, and what was measured of it by case: seconds of its agents' processors, and of the clock."""

    def __init__(self, supervisor: Agent, worker: Agent) -> None:
        self.supervisor = supervisor
        self.worker = worker
        self.processor: dict[Case, list[float]] = {}
        self.clock: dict[Case, float] = {}

    async def measure(self, case: Case) -> None:
        """Run one slice of turns."""
        agents = (self.supervisor, self.worker)
        before, began = [cpu_seconds(agent.pid) for agent in agents], time.perf_counter()
        await _turns(self.supervisor.url, case)
        self.clock[case] = self.clock.get(case, 0.0) + time.perf_counter() - began
        used = [cpu_seconds(agent.pid) - then for agent, then in zip(agents, before, strict=True)]
        sums = self.processor.setdefault(case, [0.0, 0.0])
        self.processor[case] = [total + more for total, more in zip(sums, used, strict=True)]


async def _turns(url: str, case: Case) -> None:
    kind, at_once, streamed = case
    async with http_client() as http:

        async def some() -> None:
            for _ in range(SLICE // at_once):
                order = Order(uuid4().hex[:8], kind)
                seen = await Talk(http, url).send(order.text, streamed=streamed)
                assert seen.state == COMPLETED, seen
                assert seen.stored in (order.answer, order.passed_answer), seen

        await asyncio.gather(*(some() for _ in range(at_once)))


@asynccontextmanager
async def _side(checkout: Path, folder: Path, model: ModelProcess) -> AsyncIterator[Side]:
    await asyncio.to_thread(_prepare, folder)
    settings = {**model.settings, **SETTINGS, **QUIET, **UNTIMED, "PYTHONPATH": str(folder)}
    serve = "utils.a2a_common.server.serve"
    worker = Agent(checkout, (serve, "plain_worker:Worker"), folder / WORKER, settings)
    settings |= {"SUB_AGENTS": f"{WORKER}={worker.url}", "SUB_AGENTS_SHARES": f"{WORKER}=results"}
    supervisor = Agent(checkout, ("multi_agents.platform_engineer",), folder / "supervisor", settings)
    try:
        await worker.start()
        await supervisor.start()
        yield Side(supervisor, worker)
    finally:
        await supervisor.kill()
        await worker.kill()


def _prepare(folder: Path) -> None:
    """The worker stands in a folder of its own, since the other checkout has none like it."""
    folder.mkdir()
    shutil.copy(Path(__file__).with_name("service") / "plain_worker.py", folder)


async def compare(other: Path, turns: int) -> None:
    """Measure both and print the figures of each case."""
    cases = [(kind, at_once, streamed) for kind in KINDS for at_once in AT_ONCE for streamed in STREAMED]
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        model = ModelProcess(folder / "model.log", "")
        stack.push_async_callback(model.close)
        await model.start()
        sides = [
            await stack.enter_async_context(_side(checkout, folder / name, model))
            for name, checkout in (("here", ROOT), ("other", other))
        ]
        for number in range(-1, -(-turns // SLICE)):
            for case in cases:
                await asyncio.gather(*(side.measure(case) for side in sides))
            if number < 0:  # the first slices warm up
                for side in sides:
                    side.processor.clear()
                    side.clock.clear()
    _print(cases, *sides, count=-(-turns // SLICE) * SLICE)


def _print(cases: list[Case], here: Side, other: Side, *, count: int) -> None:
    print(f"milliseconds of processor time a turn, {count} turns each; load {os.getloadavg()[0]:.1f}")
    for case in cases:
        kind, at_once, streamed = case
        name = f"{KINDS[kind]}, {'streamed' if streamed else 'unary'}, {at_once} at once"
        ours, theirs = sum(here.processor[case]), sum(other.processor[case])
        parts = "; ".join(
            f"{' + '.join(f'{seconds / count * 1000:.1f}' for seconds in side.processor[case])}"
            f" = {sum(side.processor[case]) / count * 1000:6.1f}"
            for side in (here, other)
        )
        print(
            f"  {name:50} {parts}; ratio {ours / theirs:.2f} (clock {here.clock[case] / other.clock[case]:.2f})"
        )
    for kind, name in KINDS.items():
        ours, theirs = (
            sum(sum(side.processor[case]) for case in cases if case[0] == kind) for side in (here, other)
        )
        print(f"{name}: ratio {ours / theirs:.3f}")


def main(arguments: list[str]) -> int:
    """Run it, or say how."""
    folders = [Path(each).resolve() for each in arguments if "=" not in each]
    options: dict[str, Any] = dict(each.split("=", 1) for each in arguments if "=" in each)
    if len(folders) != 1 or set(options) - {"TURNS"} or not (folders[0] / ".venv").is_dir():
        print(__doc__)
        return 2
    asyncio.run(compare(folders[0], int(options.get("TURNS", 150))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

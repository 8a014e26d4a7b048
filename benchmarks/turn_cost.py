"""What a turn costs in processor time, beside a request of the bare SDK in the same run: `python -m benchmarks turn_cost`.

A real supervisor, a real worker and a model in processes of their own; counted is the time of supervisor and worker. The
bare SDK's server echoes, as in `benchmarks/wire.py`. Processor time hardly depends on what else the machine does.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from uuid import uuid4

from benchmarks.service.client import COMPLETED, Talk, http_client
from benchmarks.service.gate import Gate
from benchmarks.service.processes import Service, running_service
from benchmarks.service.script import SAY, WORK, Order
from benchmarks.wire import Server, served, unary

ROUNDS = 5
TURNS = 24
AT_ONCE = (1, 8)
TICKS = os.sysconf("SC_CLK_TCK")
QUIET = {"LOG_LEVEL": "WARNING"}


def cpu_seconds(pid: int) -> float:
    """Processor time that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


async def turns(service: Service, kind: str, count: int, at_once: int, *, streamed: bool) -> None:
    """Run so many turns, each in a conversation of its own.

    Raises:
        AssertionError: One was not answered as it must be.
    """
    async with http_client() as http:

        async def some() -> None:
            for _ in range(count // at_once):
                order = Order(uuid4().hex[:8], kind)
                seen = await Talk(http, service.url).send(order.text, streamed=streamed)
                assert (seen.state, seen.stored) == (COMPLETED, order.answer), seen

        await asyncio.gather(*(some() for _ in range(at_once)))


async def _cost(service: Service, kind: str, at_once: int, *, streamed: bool) -> list[float]:
    """Milliseconds of processor time a turn: of the supervisor and of the worker."""
    agents = (service.supervisor, service.worker)
    before = [cpu_seconds(agent.pid) for agent in agents]
    await turns(service, kind, TURNS, at_once, streamed=streamed)
    done = TURNS // at_once * at_once
    return [(cpu_seconds(agent.pid) - then) / done * 1000 for agent, then in zip(agents, before, strict=True)]


async def _bare(server: Server) -> float:
    import httpx

    server.figures.clear()
    async with httpx.AsyncClient(timeout=600, trust_env=False) as http:
        await unary(http, server)
    return server.best("CPU ms per request")


async def run() -> None:
    """Print the figures: the least of some rounds, which the rest of the machine disturbed least."""
    with tempfile.TemporaryDirectory() as folder, served("bare", "memory") as bare:
        async with running_service(Path(folder), Gate(), QUIET) as service:
            await turns(service, WORK, TURNS, max(AT_ONCE), streamed=True)
            floor = [await _bare(bare)]
            figures: dict[tuple[str, int, bool], list[list[float]]] = {}
            for _ in range(ROUNDS):
                for kind in (SAY, WORK):
                    for at_once in AT_ONCE:
                        for streamed in (True, False):
                            cost = await _cost(service, kind, at_once, streamed=streamed)
                            figures.setdefault((kind, at_once, streamed), []).append(cost)
                floor.append(await _bare(bare))
    least = min(floor)
    print(f"bare SDK, a unary request: {least:.2f} ms of processor time")
    for (kind, at_once, streamed), costs in figures.items():
        supervisor, worker = min(costs, key=sum)
        name = f"{'delegated' if kind == WORK else 'direct'}, {'streamed' if streamed else 'unary'}, {at_once} at once"
        print(
            f"  {name:32} supervisor {supervisor:6.1f} ms + worker {worker:6.1f} ms = {supervisor + worker:6.1f} ms,"
            f" {(supervisor + worker) / least:5.1f} times the bare request"
        )


if __name__ == "__main__":
    asyncio.run(run())

"""A service that works for a long time: what it holds at its beginning and at its end."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import httpx

from benchmarks.load.footprint import Footprint, descriptors, held_by, memory_kilobytes
from benchmarks.service.client import COMPLETED, Talk, http_client
from benchmarks.service.doors import RpcDoor
from benchmarks.service.gate import Gate
from benchmarks.service.held import HELD, Held
from benchmarks.service.processes import Service, running_service
from benchmarks.service.script import LOOK, SAY, WORK, Order

CLIENTS = 4
SAMPLES = 10
DROPS = 0.1
WARM_UP = 0.2
QUIET = {"LOG_LEVEL": "WARNING"}
SPARE = Footprint(1 << 30, 6, 12)

Fault = Callable[[str, str], None]


async def soak(seconds: float, fault: Fault) -> None:
    """Conversations for so long, some of whose clients leave."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {**QUIET, HELD: f"{folder}/held"}
        async with (
            running_service(Path(folder), Gate(), settings, through="benchmarks.service.held") as service,
            http_client() as http,
        ):
            counts: Counter[str] = Counter()
            ends = time.monotonic() + seconds
            clients = [
                asyncio.create_task(_talk(http, service, ends, counts, seed)) for seed in range(CLIENTS)
            ]
            await asyncio.sleep(seconds * WARM_UP)
            first, done = await _look(http, service), counts["conversations"]
            in_use = await _in_use(service, folder)
            for _ in range(SAMPLES):
                await asyncio.sleep(seconds * (1 - WARM_UP) / SAMPLES)
                for name, held in (await _look(http, service)).items():
                    print(
                        f"  {time.monotonic() - ends + seconds:6.0f} s, {dict(counts)}, {name}: {held}",
                        flush=True,
                    )
            await asyncio.gather(*clients)
            await asyncio.sleep(10)
            last = await _look(http, service)
            in_use_last = await _in_use(service, folder)
            size = _size_of(Path(folder))
    more = max(1, counts["conversations"] - done) / 1000
    for name, held in last.items():
        grown = held.minus(first[name])
        print(
            f"  {name}: {held} at the end; {grown.kilobytes / 1024 / more:.1f} MB more in 1,000 conversations"
        )
        over = [key for key, value, spare in zip(grown._fields, grown, SPARE, strict=True) if value > spare]
        if over:
            fault("left", f"{name}, {', '.join(over)}: {grown}")
        left = in_use_last[name].minus(in_use[name])
        print(
            f"  {name}: in use at the end, more than after the warm-up: {left}; {left.blocks / more / 1000:.1f} blocks a conversation"
        )
    print(f"  {dict(counts)}; files {size / 1024 / max(1, counts['conversations']):.1f} kB a conversation")
    if counts["wrong"]:
        fault("errors", f"{counts['wrong']} turns of the soak were not answered")


def _size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


async def _talk(
    http: httpx.AsyncClient, service: Service, ends: float, counts: Counter[str], seed: int
) -> None:
    dice = random.Random(seed)
    while time.monotonic() < ends:
        talk = Talk(http, service.url)
        for turn in range(dice.randint(1, 3)):
            order = Order(f"s{seed}.{counts['conversations']}.{turn}", dice.choice((SAY, WORK, LOOK)))
            if dice.random() < DROPS:
                await _leave(http, service.url, order)
                counts["dropped"] += 1
                break
            seen = await talk.send(order.text, streamed=dice.random() < 0.5)
            good = seen.state == COMPLETED and seen.text == seen.stored == order.answer
            counts["answered" if good else "wrong"] += 1
        counts["conversations"] += 1


async def _leave(http: httpx.AsyncClient, url: str, order: Order) -> None:
    message = {"messageId": order.key, "role": "ROLE_USER", "parts": [{"text": order.text}]}
    stream = RpcDoor(http, url).events("SendStreamingMessage", {"message": message})
    await anext(stream)
    await stream.aclose()


async def _in_use(service: Service, folder: str) -> dict[str, Held]:
    """What is in use after a garbage collection: it grows by a leak, and not by what an allocator keeps."""
    return {name: await held_by(agent.pid, f"{folder}/held") for name, agent in service.agents.items()}


async def _look(http: httpx.AsyncClient, service: Service) -> dict[str, Footprint]:
    found = {}
    for name, agent in service.agents.items():
        counted = await agent.footprint(http)
        found[name] = Footprint(memory_kilobytes(agent.pid), counted.loop_tasks, descriptors(agent.pid))
    return found
